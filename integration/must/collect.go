package must

import (
	"os"
	"runtime/debug"
	"testing"
)

// A test binary ends soon, and the machine has memory for it: it collects garbage a quarter as
// often as a program that stays, which is up to a quarter of its processor time. It does so from
// its start, and whoever sets GOGC has the last word.
var _ = collectSeldom()

func collectSeldom() bool {
	if testing.Testing() && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	return true
}
