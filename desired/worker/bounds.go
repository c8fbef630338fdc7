package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits are the bounds of a job. A zero field takes its default.
type Limits struct {
	PerStep time.Duration // from one Begin to the next, start-up included; 20 s
	Total   time.Duration // of one call of Run or RunSteps; 10 min
	// Silence is for how long the child may show no sign of life: it is stopped, or swapped out. A job
	// that works, however long, shows them. 30 s
	Silence time.Duration
	// Memory is what the garbage collector aims at (GOMEMLIMIT), in bytes; 1 GiB.
	// It works ever harder near it, which the time bound then ends.
	Memory int64
	// AddressSpace is the hard end of memory (RLIMIT_AS), in bytes; 3 GiB. Go
	// reserves about 1 GiB of it at the start without using it. It is
	// enforced on Linux, except in a binary built with -race, which needs terabytes.
	AddressSpace uint64
	Stack        int64 // of one goroutine, in bytes; 256 MiB
	Output       int64 // of all results together, in bytes; 64 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		PerStep:      cmp.Or(l.PerStep, 20*time.Second),
		Total:        cmp.Or(l.Total, 10*time.Minute),
		Silence:      cmp.Or(l.Silence, 30*time.Second),
		Memory:       cmp.Or(l.Memory, 1<<30),
		AddressSpace: cmp.Or(l.AddressSpace, 3<<30),
		Stack:        cmp.Or(l.Stack, 256<<20),
		Output:       cmp.Or(l.Output, 64<<20),
	}
}

// Bound names what a job ran into.
type Bound string

// The bounds of [BoundError].
const (
	BoundTime   Bound = "time"
	BoundTotal  Bound = "total time"
	BoundMemory Bound = "memory"
	BoundStack  Bound = "stack"
	BoundOutput Bound = "output"
	// BoundSilence is for a child that does not run: something has stopped it, or the machine is
	// too short of memory or time.
	BoundSilence Bound = "silence"
	// BoundKilled is the kernel's end of a child because the machine, or the container, has
	// no memory left. It says little of the job.
	BoundKilled Bound = "memory of the machine"
	// BoundCrash is the child's end by anything else: a panic, an exit, a signal,
	// or words that are no frames.
	BoundCrash Bound = "crash"
)

// BoundError says that a job was ended, by which bound, and at which step.
type BoundError struct {
	Bound Bound
	Limit string // "20s", "1 GiB"; for a crash how it ended: "exit status 2"
	Step  string // empty before the first
	// Stderr is the beginning and the end of what the child printed, up to 8 KiB, without
	// secrets. It may quote what the job was working on: for logs, never for a report.
	Stderr string
}

// Lines of [BoundError.Printed]: a panic of Go says what is wrong at the beginning, other programs at the end.
const firstLines, lastLines = 16, 8

// Printed is what the child printed before it crashed, the first lines and the last; empty where it
// ran into a bound: then that is why it ended.
func (e *BoundError) Printed() string {
	if e.Bound != BoundCrash {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(e.Stderr), "\n")
	if len(lines) > firstLines+lastLines {
		lines = slices.Concat(lines[:firstLines], []string{"…"}, lines[len(lines)-lastLines:])
	}
	return strings.Join(lines, "\n")
}

// Error is "teams/a: exceeded the memory bound of 1 GiB".
func (e *BoundError) Error() string {
	prefix := ""
	if e.Step != "" {
		prefix = e.Step + ": "
	}
	if e.Bound == BoundCrash {
		return prefix + "the worker crashed: " + e.Limit
	}
	if e.Bound == BoundKilled {
		return prefix + "the kernel killed the worker: " + e.Limit
	}
	if e.Bound == BoundSilence {
		return prefix + "the worker showed no sign of life for " + e.Limit
	}
	return fmt.Sprintf("%sexceeded the %s bound of %s", prefix, e.Bound, e.Limit)
}

// Advice is what a person can do about it, where it is not about the job.
func (e *BoundError) Advice() string {
	if e.Bound != BoundSilence {
		return ""
	}
	return "Seawall tries again by itself; if it lasts, look for what stops its processes, or takes the memory or the processors of the machine"
}

// JobError is the error that a job returned.
type JobError struct {
	Step    string // the last that began
	Message string
}

func (e *JobError) Error() string { return e.Message }
