//go:build race

package controller

import "runtime"

// With several processors the race detector of Go 1.26 itself crashes in about one of ten tests with
// many timers in a bubble of synctest (in StackDepot::Put). With one it does not, and sees as much: it
// compares what is ordered, not what happens at the same time.
func init() { runtime.GOMAXPROCS(1) }
