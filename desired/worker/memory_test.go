//go:build linux && !race

package worker_test

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/worker"
)

// The race detector cannot live with a bounded address space; see race.go.

func TestMemoryBound(t *testing.T) {
	limits := short
	limits.PerStep = time.Minute
	err := worker.Runner{Limits: limits}.Run(t.Context(), "steps", []string{"fine", "hog"}, nil)
	wantBound(t, err, worker.BoundMemory, "hog", "hog: exceeded the memory bound of 64 MiB")
}
