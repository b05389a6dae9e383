package main

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// layoutVariable is the variable with a number from which the layout is made; without it, the layout is the system's.
const layoutVariable = "NETBENCH_LAYOUT"

// layoutBlocks is the number of blocks that stay in the heap; their sizes are between the following powers of two.
const (
	layoutBlocks  = 256
	smallestBlock = 5
	largestBlock  = 16
)

var layoutHeld [][]byte

// withLayout does work with the goroutine's stack moved, and with a heap that is not quite empty, by amounts derived from the
// variable. Go's heap begins at the same address in every process.
func withLayout(work func()) {
	seed, err := strconv.ParseUint(os.Getenv(layoutVariable), 10, 64)
	if err != nil {
		work()
		return
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range layoutBlocks {
		least := 1 << (smallestBlock + random.IntN(largestBlock-smallestBlock))
		layoutHeld = append(layoutHeld, make([]byte, least+random.IntN(least)))
	}
	deeper(random.IntN(32), work)
}

//go:noinline
func deeper(steps int, work func()) {
	var frame [208]byte
	frame[steps] = 1
	if steps == 0 {
		work()
	} else {
		deeper(steps-1, work)
	}
	sink = frame[steps]
}

var sink byte
