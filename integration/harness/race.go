//go:build race

package harness

// BuildFlags are those of the tests that the program gets too.
var BuildFlags = []string{"-race"}

// AtOnce is how many tests run at once: each daemon takes several times the processor time and memory.
var AtOnce = 6
