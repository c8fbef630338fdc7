package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// slowAfter is how long a look may take before the zone counts as slow.
const slowAfter = 5 * time.Second

// retries counts the failures in a row of each zone.
type retries struct {
	mu    sync.Mutex
	zones map[edge.Scope]int
}

func newRetries() *retries { return &retries{zones: map[edge.Scope]int{}} }

// failed counts a failure and returns how long to wait.
func (r *retries) failed(id edge.Scope) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.zones[id]++
	return retry.Zone.Spread(r.zones[id])
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

// leave forgets the failures of zones that another process works on.
func (r *retries) leave(theirs func(edge.Scope) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.zones, func(id edge.Scope, _ int) bool { return theirs(id) })
}

// len counts the zones that are tried again.
func (r *retries) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.zones)
}
