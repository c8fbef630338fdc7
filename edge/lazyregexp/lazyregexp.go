// Package lazyregexp compiles regular expressions when they are first used. To compile all
// of them took a quarter of the time in which a command starts, and a command uses few.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr once, and panics as [regexp.MustCompile]
// does. It is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
