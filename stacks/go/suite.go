package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// The limits above which requests are refused before they take all of a machine's memory or threads, as in
// netbench/worker/src/suite/prepared.rs.
const (
	mostSessions = 1_000_000
	mostWrite    = 64 << 20
	mostThreads  = 1_024
	mostFragment = 16 << 10
)

type prepareRequest struct {
	Stack    string `json:"stack"`
	Scenario struct {
		Work    work `json:"work"`
		Counted bool `json:"counted"`
	} `json:"scenario"`
	Material material `json:"material"`
}

// work is one kind of work with its settings; fields that a part does not have are empty.
type work struct {
	Part        string           `json:"part"`
	Kind        string           `json:"kind"`
	Settings    *sessionSettings `json:"settings"`
	WriteBytes  int              `json:"write_bytes"`
	AmountBytes int64            `json:"amount_bytes"`
	MaxFragment *int             `json:"max_fragment_bytes"`
	Heap        string           `json:"heap"`
	Form        string           `json:"form"`
	Key         string           `json:"key"`
	Primitive   *primitive       `json:"primitive"`
	Threads     int              `json:"threads"`
	Work        json.RawMessage  `json:"work"`
}

// key returns the type of the key of the work, or nothing for work without keys.
func (w *work) key() string {
	switch {
	case w.Settings != nil:
		return w.Settings.Key
	case w.Primitive != nil:
		return w.Primitive.Key
	}
	return w.Key
}

type sessionSettings struct {
	Version    version `json:"version"`
	AEAD       string  `json:"aead"`
	Key        string  `json:"key"`
	Group      group   `json:"group"`
	ClientAuth string  `json:"client_auth"`
}

type material struct {
	Host           string  `json:"host"`
	ChainPEM       string  `json:"chain_pem"`
	KeyPEM         string  `json:"key_pem"`
	ClientChainPEM string  `json:"client_chain_pem"`
	ClientKeyPEM   string  `json:"client_key_pem"`
	RootsPEM       string  `json:"roots_pem"`
	NativePath     *string `json:"native_path"`
}

type preparedAnswer struct {
	Client *negotiated `json:"client"`
	Server *negotiated `json:"server"`
}

type sliceRequest struct {
	Limit struct {
		Microseconds *int64  `json:"microseconds"`
		Operations   *uint32 `json:"operations"`
	} `json:"limit"`
	Clocks string `json:"clocks"`
	// Number of operations that are timed together; 0 means one.
	Batch uint32 `json:"batch"`
}

type slicedAnswer struct {
	Operations uint32 `json:"operations"`
	// Number of operations in each timing; left out where it is one.
	Batch     uint32             `json:"batch,omitempty"`
	TimingsNS map[string][]int64 `json:"timings_ns"`
	// The loops of netbench/worker/src/suite/reference.rs must be the same machine code everywhere, which Go's would not be.
	Reference     *struct{} `json:"reference"`
	Handshakes    uint32    `json:"handshakes"`
	ClientResumed uint32    `json:"client_resumed"`
	ServerResumed uint32    `json:"server_resumed"`
}

// scenario is a scenario that has run once.
type scenario struct {
	// Runs one turn.
	slice func(*turn) error
	// The sides of its sessions, if it has any that can be held.
	sides *sides
	// Ends the state that lasts between turns, if there is any.
	end func()
}

// stepError is an attempted step, in a word of FailureWord, with its error.
type stepError struct {
	word string
	err  error
}

func (e *stepError) Error() string { return e.word + ": " + e.err.Error() }

// A coroutine must always be resumed on the thread, and with the locks, with which it was made.
var lockThread = sync.OnceFunc(runtime.LockOSThread)

func (w *worker) prepare(line []byte) (string, any, error) {
	request, err := decode[prepareRequest](line)
	if err != nil {
		return "", nil, err
	}
	if err := ofThisStack(request.Stack); err != nil {
		return "", nil, err
	}
	lockThread()
	if w.scenario != nil && w.scenario.end != nil {
		w.scenario.end()
	}
	w.scenario = nil
	made, agreed, err := newScenario(&request)
	var reason unsupported
	if errors.As(err, &reason) {
		return "unsupported", unsupportedAnswer{string(reason)}, nil
	}
	if err != nil {
		return "failed", setupFailure(err), nil
	}
	w.scenario = made
	return "prepared", agreed, nil
}

func setupFailure(err error) failure {
	word := "setup"
	var step *stepError
	if errors.As(err, &step) {
		word = step.word
	}
	return failure{Class: "setup", Reason: word, Detail: sanitize(err.Error())}
}

func newScenario(request *prepareRequest) (*scenario, *preparedAnswer, error) {
	if err := proven(); err != nil {
		return nil, nil, err
	}
	if request.Scenario.Counted {
		return nil, nil, unsupported("instructions of a Go program cannot be counted: its steps are no functions of C")
	}
	wanted, given := &request.Scenario.Work, &request.Material
	if err := hasKey(wanted.key()); err != nil {
		return nil, nil, err
	}
	switch wanted.Part {
	case "verify":
		made, err := newVerify(given)
		return made, &preparedAnswer{}, err
	case "parallel-verify":
		if err := withinBounds(wanted); err != nil {
			return nil, nil, err
		}
		made, err := newParallelVerify(given, wanted.Threads)
		return made, &preparedAnswer{}, err
	case "connector":
		made, err := newConfiguration(wanted.Form, given)
		return made, &preparedAnswer{}, err
	case "crypto":
		if wanted.Primitive == nil {
			return nil, nil, errors.New("no operation for the part \"crypto\"")
		}
		made, err := newPrimitive(wanted.Primitive, given)
		return made, &preparedAnswer{}, err
	}
	if wanted.Settings == nil {
		return nil, nil, fmt.Errorf("no settings for the part %q", wanted.Part)
	}
	if err := withinBounds(wanted); err != nil {
		return nil, nil, err
	}
	if wanted.Heap == "young" {
		return nil, nil, unsupported("Go manages the heap itself, and its collector determines the state")
	}
	kind, parallel, err := wanted.kind()
	if err != nil {
		return nil, nil, err
	}
	both, err := newSides(wanted.Settings, kind, given)
	if err != nil {
		return nil, nil, err
	}
	agreed, err := both.agreed(kind)
	if err != nil {
		return nil, nil, err
	}
	switch wanted.Part {
	case "handshake", "memory":
		return &scenario{slice: both.handshakes, sides: both}, agreed, nil
	case "bulk":
		made, err := newBulk(both, wanted.WriteBytes, wanted.AmountBytes)
		return made, agreed, err
	case "threads":
		return newThreads(both, wanted.Threads, parallel), agreed, nil
	default:
		return nil, nil, fmt.Errorf("unknown part of the suite %q", wanted.Part)
	}
}

// kind returns the beginning of the work's handshakes, and for threads whether they make handshakes at all.
func (w *work) kind() (kind string, parallel parallelWork, err error) {
	switch w.Part {
	case "handshake":
		kind = w.Kind
	case "threads":
		var named struct {
			Handshake string `json:"handshake"`
		}
		if json.Unmarshal(w.Work, &named) == nil && named.Handshake != "" {
			kind, parallel = named.Handshake, parallelHandshakes
			break
		}
		kind, parallel = kindFull, parallelBulk
	default:
		kind = kindFull
	}
	if !slices.Contains([]string{kindFull, kindSessionID, kindTicket}, kind) {
		err = fmt.Errorf("unknown kind of handshake %q", kind)
	}
	return kind, parallel, err
}

func withinBounds(wanted *work) error {
	switch {
	case wanted.WriteBytes > mostWrite:
		return fmt.Errorf("at most %d bytes in a write", mostWrite)
	case wanted.Threads > mostThreads:
		return fmt.Errorf("at most %d threads", mostThreads)
	case wanted.MaxFragment == nil:
		return nil
	case *wanted.MaxFragment < 1 || *wanted.MaxFragment > mostFragment:
		return fmt.Errorf("records have 1 to %d bytes", mostFragment)
	default:
		return unsupported("Go cannot be told how long records may be")
	}
}

// turn is one slice in progress.
type turn struct {
	request sliceRequest
	sliced  slicedAnswer
	begun   time.Time
}

func (w *worker) slice(line []byte) (string, any, error) {
	request, err := decode[sliceRequest](line)
	if err != nil {
		return "", nil, err
	}
	if w.scenario == nil {
		return "", nil, errors.New("no scenario is prepared")
	}
	t := &turn{request: request, sliced: slicedAnswer{TimingsNS: map[string][]int64{}}, begun: time.Now()}
	if err := w.scenario.slice(t); err != nil {
		return "failed", setupFailure(err), nil
	}
	return "sliced", t.sliced, nil
}

// goesOn reports whether another operation belongs to the turn. There is always a first.
func (t *turn) goesOn() bool {
	return t.request.goesOn(t.sliced.Operations, t.begun)
}

func (r *sliceRequest) goesOn(done uint32, begun time.Time) bool {
	if r.Limit.Operations != nil {
		return done < *r.Limit.Operations
	}
	limit := int64(0)
	if r.Limit.Microseconds != nil {
		limit = *r.Limit.Microseconds
	}
	return done == 0 || time.Since(begun).Microseconds() < limit
}

// record keeps the timing of one operation.
func (t *turn) record(measure string, m meter) {
	t.sliced.TimingsNS[measure] = append(t.sliced.TimingsNS[measure], m.sum.Nanoseconds())
}

// meter adds up the times of one side's steps.
type meter struct{ sum time.Duration }

func (m *meter) time(clocks string, step func() error) error {
	if clocks == "cpu" {
		start := threadCPU()
		err := step()
		m.sum += threadCPU() - start
		return err
	}
	start := time.Now()
	err := step()
	m.sum += time.Since(start)
	return err
}
