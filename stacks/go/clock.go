package main

import (
	"syscall"
	"time"
	"unsafe"
)

// processClock and threadClock are CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID of clock_gettime(2).
const (
	processClock = 2
	threadClock  = 3
)

// processCPU returns the CPU time of this process. Go does the work of one connection on several threads.
func processCPU() time.Duration { return cpuTime(processClock) }

// threadCPU returns the CPU time of the calling thread, to which the goroutine must be locked.
func threadCPU() time.Duration { return cpuTime(threadClock) }

func cpuTime(clock uintptr) time.Duration {
	var now syscall.Timespec
	_, _, failed := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0)
	if failed != 0 {
		return 0
	}
	return time.Duration(now.Nano())
}

// minorFaults returns the number of minor page faults of this process so far (ru_minflt, getrusage(2)).
func minorFaults() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Minflt
}
