//go:build !race

package harness

// BuildFlags are those of the tests that the program gets too.
var BuildFlags []string

// AtOnce is how many tests run at once.
var AtOnce = 20
