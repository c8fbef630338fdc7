//go:build race

package harness

// BuildFlags are those of the tests that the program gets too.
var BuildFlags = []string{"-race"}
