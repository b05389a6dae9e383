// The worker of the stack go: Go's crypto/tls, with net/http. It speaks docs/WORKER-PROTOCOL.md.
//
// Start reading at main, which reads requests, then at worker.handle. The rest is:
//
//	protocol.go, points.go     messages, and code points with their names
//	describe.go                what the stack says of itself
//	fips.go                    the variant +fips
//	connector.go, connect.go   one measured connection by net/http; wire.go counts its bytes
//	explain.go                 what an error means
//	verify.go                  chains without a connection
//	server.go, fault.go        the lab's server
//	suite.go                   a scenario of the in-memory suite
//	endpoint.go, session.go    its sessions; how each side is timed stands in session.go
//	bulk.go, alone.go, threads.go, hold.go   the parts of the suite beside handshakes
//	clock.go, layout.go        CPU clocks, and how memory is laid out
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
	// With room, so that whoever reads stdin sees its end even while requests wait.
	requests := make(chan []byte, 1024)
	go read(requests)
	w := &worker{}
	withLayout(func() {
		for line := range requests {
			if err := answer(os.Stdout, w.handle(line)); err != nil {
				// Nobody reads any more.
				os.Exit(0)
			}
		}
	})
}

// read hands on the lines of stdin. Its end ends the process, whatever that is doing: it is how the death of netbench shows.
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

// worker is what lasts from one request to the next.
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

// do does what op asks for. An error is a request that could not be understood or done.
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

// ofThisStack refuses the name of another.
func ofThisStack(stack string) error {
	if stack != stackName {
		return fmt.Errorf("this worker has no stack %q", stack)
	}
	return nil
}
