//go:build linux && !race

package evaluate

import (
	"testing"

	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

// A bounded address space is Linux's, and the race detector cannot live in one.
func TestBombsOfMemory(t *testing.T) {
	t.Parallel()
	evaluateBombs(t, map[compiletest.Ending][]string{
		compiletest.Memory: {"memory bound of 1 GiB", "time bound of 5s"},
	})
}
