package diff

import (
	"fmt"
	"math"
	"time"
)

// Cost is what applying a plan takes of the budget. It is arithmetic and no guess:
// Least is how long the budget alone makes applying last when all of it is free at
// the start, and how fast the platform answers comes on top.
type Cost struct {
	Requests int     `json:"budget_requests"`
	Per      Seconds `json:"budget_seconds"`
	Share    float64 `json:"share"` // of one whole budget; more than 1 where it takes several
	Least    Seconds `json:"least_seconds"`
	// Credential names the one whose budget it is, where there are several: applying takes
	// the longest with this one.
	Credential string `json:"credential,omitempty"`
}

// Cost returns what n requests take of the budget; nil where that is nothing, or
// the budget is not known.
func (b Budget) Cost(n int64) *Cost {
	if !b.known() || n <= 0 {
		return nil
	}
	waits := (n - 1) / int64(b.Requests) // for a budget that is full again
	return &Cost{
		Requests: b.Requests, Per: Seconds(b.Per), Share: math.Round(1e6*float64(n)/float64(b.Requests)) / 1e6,
		Least: Seconds(time.Duration(waits) * b.Per),
	}
}

// String says it for a person, behind the number of requests.
func (c Cost) String() string {
	wait := "without a wait"
	if c.Least > 0 {
		wait = "in no less than " + brief(time.Duration(c.Least))
	}
	of := ""
	if c.Credential != "" {
		of = fmt.Sprintf(" for credential %q", c.Credential)
	}
	return fmt.Sprintf("%s of the budget of %s%s, %s", percent(c.Share), Budget{c.Requests, time.Duration(c.Per)}, of, wait)
}

// percent is a share with one digit where it is small; it is never zero.
func percent(share float64) string {
	switch p := share * 100; {
	case p < 0.1:
		return "less than 0.1%"
	case p < 10:
		return fmt.Sprintf("%.1f%%", p)
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}
