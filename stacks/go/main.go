// The worker of the stack go: Go's crypto/tls, with net/http. It speaks docs/WORKER-PROTOCOL.md.
//
// Start reading at main, which reads requests, then at worker.handle. The other files are:
//
//	protocol.go, points.go     messages, and code points with their names
//	describe.go                the description of the stack
//	fips.go                    the variant +fips
//	connector.go, connect.go   one measured connection by net/http; wire.go counts its bytes
//	explain.go                 the meanings of errors
//	verify.go                  chains without a connection
//	server.go, fault.go        the lab's server
//	suite.go                   a scenario of the in-memory suite
//	endpoint.go, session.go    its sessions; session.go describes the timing of each side
//	bulk.go, alone.go, threads.go, hold.go   the parts of the suite beside handshakes
//	clock.go, layout.go        CPU clocks, and the layout of memory
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	// The channel is buffered, so that the reader of stdin sees its end even while requests wait.
	requests := make(chan []byte, 1024)
	go read(requests)
	w := &worker{}
	withLayout(func() {
		for line := range requests {
			if err := answer(os.Stdout, w.handle(line)); err != nil {
				// No process reads the answers any more.
				os.Exit(0)
			}
		}
	})
}

// read passes on the lines of stdin. The end of stdin, which signals the end of netbench, ends the process, whatever it is doing.
func read(requests chan<- []byte) {
	stdin := bufio.NewReader(os.Stdin)
	for {
		line, err := stdin.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			requests <- line
		}
		if err == io.EOF {
			os.Exit(0)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "reading requests:", err)
			os.Exit(1)
		}
	}
}

// response is one line of stdout: the fields of body, with the request's id and the kind of answer.
type response struct {
	id   uint64
	kind string
	body any
}

func answer(to io.Writer, r response) error {
	line := fmt.Appendf(nil, `{"id":%d,"type":%q`, r.id, r.kind)
	if r.body != nil {
		body, err := json.Marshal(r.body)
		if err != nil {
			return err
		}
		if len(body) > len("{}") {
			line = append(line, ',')
		}
		line = append(line, body[1:]...)
	} else {
		line = append(line, '}')
	}
	_, err := to.Write(append(line, '\n'))
	return err
}

// worker is the state that lasts from one request to the next.
type worker struct {
	settings *configureRequest
	// The connector of the last prime connection, with its site.
	kept     *connector
	keptHost string
	keptPort uint16
	server   *server
	scenario *scenario
}

func (w *worker) handle(line []byte) response {
	var request struct {
		ID *uint64 `json:"id"`
		Op *string `json:"op"`
	}
	err := json.Unmarshal(line, &request)
	var id uint64
	if request.ID != nil {
		id = *request.ID
	}
	if err == nil && request.ID == nil {
		err = errors.New("it has no id")
	}
	if err == nil && request.Op == nil {
		err = errors.New("it has no op")
	}
	if err != nil {
		return failedRequest(id, err)
	}
	kind, body, err := w.do(*request.Op, line)
	if err != nil {
		return failedRequest(id, err)
	}
	return response{id, kind, body}
}

func failedRequest(id uint64, err error) response {
	return response{id, "error", errorAnswer{sanitize(err.Error())}}
}

// do performs the operation op. It returns an error for a request that could not be parsed or performed.
func (w *worker) do(op string, line []byte) (kind string, body any, err error) {
	switch op {
	case "describe":
		return "description", describe(), nil
	case "configure":
		return w.configure(line)
	case "connect":
		return w.connect(line)
	case "serve":
		return w.serve(line)
	case "counts":
		return "counted", countedAnswer{w.server.counts()}, nil
	case "verify":
		return w.verify(line)
	case "prepare":
		return w.prepare(line)
	case "slice":
		return w.slice(line)
	case "hold":
		return w.hold(line)
	default:
		return "", nil, fmt.Errorf("not a request: unknown op %q", op)
	}
}

// ofThisStack refuses the name of another stack.
func ofThisStack(stack string) error {
	if stack != stackName {
		return fmt.Errorf("this worker has no stack %q", stack)
	}
	return nil
}
