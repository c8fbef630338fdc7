//go:build race

package worker

// The race detector reserves terabytes of address space for its shadow.
const raceEnabled = true
