package review

import (
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Config is what [Reviews] are made from. Forge, Heads, Base, Lanes, Records and Now
// are required.
type Config struct {
	Forge Forge
	Heads Heads
	Base  func() (desired.State, bool) // what is in force; false: nothing yet
	// Lanes are of reviews alone. What is left of their budgets is how much a pull request
	// of many zones may have sent in one round.
	Lanes reconcile.Lanes
	// Names has the ids of zones; nil: all must be declared. Nothing is looked up for a
	// pull request.
	Names   *directory.Names
	Records Records
	// Tokens looks at tokens and nothing more. It has the NameSuffix and the
	// CreatingGroups of the worker that applies: with others a review would promise
	// tokens that are refused. No one else may use it. Nil: tokens are unknown.
	Tokens *token.Worker
	Guards reconcile.Guards
	// DryRuns asks the platform whether it would accept what a pull request changes, unless
	// it comes from a fork.
	DryRuns zone.DryRuns

	Trust Trust
	// Comments says whether plans are shown in a comment; without, by the commit status alone.
	Comments bool
	// Deprecations says what uses what is deprecated; nil says nothing.
	Deprecations reconcile.Deprecations

	Cost     func(diff.Plan) *diff.Cost // nil is not known
	Requests reconcile.Requests         // nil counts none
	Timeout  time.Duration              // of one pull request in one round; zero is 2 minutes
	Now      func() time.Time
	Diagnostics
}

// Trust says whose word counts.
type Trust struct {
	// Approvers are the accounts whose approving review counts as approval of what the
	// comment says; without them none does. One without an id is the account that has the
	// name when it is first looked up.
	Approvers []reconcile.Account
	Accounts  Accounts // remembers whom that was; nil: nothing
	Forks     Forks
}

// Diagnostics is where [Reviews] say how they go.
type Diagnostics struct {
	Failed  func(round bool) // called for each review that failed, or round; nil: nothing is
	Log     *slog.Logger     // nil discards
	Outages *outage.Tracker  // notes whether the forge and git answer; nil: one that nothing reads
	Changed func()           // called when [Service.PullRequests] has changed; it must not block; nil: nothing is
}

const usualTimeout = 2 * time.Minute

func (c Config) withDefaults() Config {
	if c.Outages == nil {
		c.Outages = outage.New(outage.Config{Now: c.Now})
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Trust.Accounts == nil {
		c.Trust.Accounts = forgottenAccounts{}
	}
	if c.Failed == nil {
		c.Failed = func(bool) {}
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	if c.Names == nil {
		c.Names = directory.New(directory.Config{Now: c.Now})
	}
	if c.Tokens == nil {
		c.Tokens = token.New(token.Config{Now: c.Now, Log: c.Log})
	}
	if c.Cost == nil {
		c.Cost = func(diff.Plan) *diff.Cost { return nil }
	}
	if c.Timeout <= 0 {
		c.Timeout = usualTimeout
	}
	return c
}
