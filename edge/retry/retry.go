// Package retry says how long to wait before something that failed is tried again. Each kind
// of thing that is tried again has a [Policy] by name in policies.go, with the reason for its
// numbers.
//
//	item.Due = now.Add(retry.Zone.Spread(failures)) // whoever counts the failures in a row
//	policy := retry.InPlace[*answer](retry.Request) // code that waits where it is, with failsafe-go
//
// Whoever looks again later counts the failures itself, since what it does next depends on more
// than the last failure: a commit, a person or the end of an outage makes it due at once.
package retry

import (
	"math/rand/v2"
	"time"

	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// Policy is the pause after each failure in a row: First, then twice as long each time, up to
// Most.
type Policy struct {
	First, Most time.Duration
	// Jitter is which share of a pause it may be longer or shorter by, at random, so that what
	// failed together does not stay together.
	Jitter float64
	// Attempts is how often something is tried in all by [InPlace]; whoever counts failures
	// itself never gives up.
	Attempts int
}

// Delay returns the pause after so many failures in a row, without jitter. Fewer than one
// counts as one.
func (p Policy) Delay(failures int) time.Duration {
	delay := p.First
	for ; failures > 1 && delay < p.Most; failures-- {
		delay *= 2
	}
	return min(delay, p.Most)
}

// Spread is [Policy.Delay] with jitter.
func (p Policy) Spread(failures int) time.Duration {
	return time.Duration(float64(p.Delay(failures)) * (1 + p.Jitter*(2*rand.Float64()-1)))
}

// Within returns the policy with no pause longer than most.
func (p Policy) Within(most time.Duration) Policy {
	p.First, p.Most = min(p.First, most), min(p.Most, most)
	return p
}

// InPlace begins the policy by which failsafe-go repeats a call that returns R.
func InPlace[R any](p Policy) retrypolicy.Builder[R] {
	return retrypolicy.NewBuilder[R]().WithMaxAttempts(p.Attempts).WithBackoff(p.First, p.Most).WithJitterFactor(p.Jitter)
}
