//go:build !race

package harness

// BuildFlags are those of the tests that the program gets too.
var BuildFlags []string

// atOnce is how many tests run at once.
const atOnce = "20"
