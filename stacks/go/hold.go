package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

type holdRequest struct {
	Sessions int `json:"sessions"`
}

type heldAnswer struct {
	Sessions    int    `json:"sessions"`
	PeakBytes   uint64 `json:"peak_bytes"`
	BeforeBytes uint64 `json:"before_bytes"`
	AfterBytes  uint64 `json:"after_bytes"`
	// Go has its own allocator, whose allocations a preloaded library cannot count.
	Heap *struct{} `json:"heap"`
}

func (w *worker) hold(line []byte) (string, any, error) {
	request, err := decode[holdRequest](line)
	if err != nil {
		return "", nil, err
	}
	if w.scenario == nil {
		return "", nil, errors.New("no scenario is prepared")
	}
	held, err := w.scenario.hold(request.Sessions)
	if err != nil {
		return "failed", setupFailure(err), nil
	}
	return "held", held, nil
}

// hold takes half as many pairs as sessions through the handshake in lock step, and returns the memory of holding them. Garbage
// that Go has not collected by then counts, as it does for a server in Go; earlier garbage is collected first.
func (s *scenario) hold(sessions int) (*heldAnswer, error) {
	switch {
	case s.sides == nil:
		return nil, &stepError{"hold", errors.New("the scenario has no sessions")}
	case sessions < 0 || sessions > mostSessions:
		return nil, &stepError{"hold", fmt.Errorf("at most %d sessions", mostSessions)}
	}
	first, err := s.sides.newPair(newWires(), "wall")
	if err != nil {
		return nil, err
	}
	first.close()
	debug.FreeOSMemory()
	held := &heldAnswer{Sessions: sessions / 2 * 2}
	if held.BeforeBytes, err = resident(); err != nil {
		return nil, err
	}
	pairs := make([]heldPair, sessions/2)
	defer func() {
		for i := range pairs {
			pairs[i].close()
		}
	}()
	if err := lockStep(s.sides, pairs); err != nil {
		return nil, &stepError{"handshake", err}
	}
	if held.AfterBytes, err = resident(); err != nil {
		return nil, err
	}
	peak, err := kib("/proc/self/status", "VmHWM:")
	if err != nil {
		return nil, err
	}
	// The kernel's own peak comes from counters that lag slightly.
	held.PeakBytes = max(peak, held.AfterBytes, held.BeforeBytes)
	return held, nil
}

// heldPair is one pair in progress, with the data that one side has written and the other has not read.
type heldPair struct {
	pair
	wires wires
}

// lockStep advances all clients by a flight, then all servers, and so on.
func lockStep(both *sides, pairs []heldPair) error {
	for i := range pairs {
		p := &pairs[i]
		p.wires.plaintext = make([]byte, 64)
		p.client, p.server = newClient(both, &p.wires), newServerSide(both, &p.wires)
		if err := p.client.step(); err != nil {
			return err
		}
		p.wires.toClient = buffer{}
	}
	for moved := true; moved; {
		moved = false
		for i := range pairs {
			p := &pairs[i]
			one, err := advance(p.server, &p.wires.toServer)
			if err != nil {
				return err
			}
			moved = moved || one
		}
		for i := range pairs {
			p := &pairs[i]
			one, err := advance(p.client, &p.wires.toClient)
			if err != nil {
				return err
			}
			moved = moved || one
		}
	}
	for i := range pairs {
		if err := pairs[i].finished(); err != nil {
			return err
		}
		// Only the library's own state is to be held.
		pairs[i].wires = wires{}
	}
	return nil
}

// advance makes a side read the received data, if there are any.
func advance(s *side, came *buffer) (bool, error) {
	if came.empty() {
		return false, nil
	}
	err := s.step()
	*came = buffer{}
	return true, err
}

// resident returns the resident size as the kernel adds it up page by page: counters kept per thread may be off by a quarter of a
// megabyte.
func resident() (uint64, error) {
	bytes, err := kib("/proc/self/smaps_rollup", "Rss:")
	if err != nil {
		bytes, err = kib("/proc/self/status", "VmRSS:")
	}
	return bytes, err
}

func kib(path, name string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, name); ok {
				kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
				if err == nil {
					return kib * 1024, nil
				}
			}
		}
		err = errors.New("no " + name + " in " + path)
	}
	return 0, &stepError{"memory", err}
}
