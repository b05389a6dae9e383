package main

import (
	"math"
	"sync"
	"time"
)

// threadWrite is the size of one write of every thread, in bytes.
const threadWrite = 16 << 10

type parallelWork int

const (
	parallelHandshakes parallelWork = iota
	parallelBulk
)

// threadDone is the result of one thread.
type threadDone struct {
	operations, handshakes, clientResumed, serverResumed uint32
	took                                                 time.Duration
	err                                                  error
}

// newThreads does the same work on many threads that share both configurations.
func newThreads(both *sides, threads int, parallel parallelWork) *scenario {
	return onThreads(threads, func(request *sliceRequest, wait func()) threadDone {
		return both.thread(request, parallel, wait)
	})
}

// newParallelVerify verifies the chain on many threads that share the roots.
func newParallelVerify(given *material, threads int) (*scenario, error) {
	verify, err := verifier(given)
	if err == nil {
		err = verify()
	}
	if err != nil {
		return nil, err
	}
	return onThreads(threads, func(request *sliceRequest, wait func()) (done threadDone) {
		wait()
		begun := time.Now()
		for done.err == nil && request.goesOn(done.operations, begun) {
			done.err = verify()
			done.operations++
		}
		done.took = time.Since(begun)
		return done
	}), nil
}

// onThreads runs work on many threads, which begin when all are ready. A thread is a goroutine: Go runs as many at a time as there are
// cores.
func onThreads(threads int, work func(request *sliceRequest, wait func()) threadDone) *scenario {
	threads = max(threads, 1)
	return &scenario{slice: func(t *turn) error {
		results := make([]threadDone, threads)
		var ready, ended sync.WaitGroup
		ready.Add(threads)
		for i := range results {
			ended.Go(func() {
				results[i] = work(&t.request, func() {
					ready.Done()
					ready.Wait()
				})
			})
		}
		ended.Wait()
		perNS := 0.0
		for _, done := range results {
			if done.err != nil {
				return done.err
			}
			perNS += float64(done.operations) / float64(max(done.took.Nanoseconds(), 1))
			t.sliced.Operations += done.operations
			t.sliced.Handshakes += done.handshakes
			t.sliced.ClientResumed += done.clientResumed
			t.sliced.ServerResumed += done.serverResumed
		}
		t.sliced.TimingsNS["both"] = []int64{int64(math.Round(1 / perNS))}
		return nil
	}}
}

// thread works from the moment at which all threads are ready until the turn ends.
func (both *sides) thread(request *sliceRequest, parallel parallelWork, wait func()) (done threadDone) {
	w := newWires()
	data := &bulk{both: both, wires: w, write: make([]byte, threadWrite), writes: burst / threadWrite}
	if parallel == parallelBulk {
		done.err = data.renew()
	}
	wait()
	begun := time.Now()
	for done.err == nil && request.goesOn(done.operations, begun) {
		if parallel == parallelBulk {
			var sent, received meter
			done.err = data.burst("wall", &sent, &received)
		} else {
			done.err = both.oneOfMany(w, &done)
		}
		done.operations++
	}
	done.took = time.Since(begun)
	if data.pair != nil {
		data.pair.close()
	}
	return done
}

func (both *sides) oneOfMany(w *wires, done *threadDone) error {
	p, err := both.newPair(w, "wall")
	if err != nil {
		return err
	}
	client, server := p.resumed()
	done.handshakes++
	done.clientResumed += client
	done.serverResumed += server
	p.close()
	return nil
}
