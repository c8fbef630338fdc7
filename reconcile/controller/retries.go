package controller

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

const (
	// firstRetry and lastRetry bound how long a zone waits that has failed: twice as long
	// after each failure in a row. It is never given up.
	firstRetry = 5 * time.Second
	lastRetry  = 15 * time.Minute
	// slowAfter is how long a look may take before the zone counts as slow.
	slowAfter = 5 * time.Second
)

// retries counts the failures in a row of each zone.
type retries struct {
	mu    sync.Mutex
	zones map[edge.Scope]int
}

func newRetries() *retries { return &retries{zones: map[edge.Scope]int{}} }

// failed counts a failure and returns how long to wait: a little more or less than
// the rule says, so that zones that failed together do not stay together.
func (r *retries) failed(id edge.Scope) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := min(firstRetry<<min(r.zones[id], 20), lastRetry)
	r.zones[id]++
	return time.Duration(float64(wait) * (0.9 + 0.2*rand.Float64()))
}

// failing returns the zones that have failed, for when what they failed of is over.
func (r *retries) failing() []edge.Scope {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.zones))
}

// worked forgets the failures of a zone.
func (r *retries) worked(id edge.Scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.zones, id)
}

// len counts the zones that are tried again.
func (r *retries) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.zones)
}
