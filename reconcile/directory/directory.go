// Package directory finds zones and accounts on the platform by their names. A
// repository then needs no ids:
//
//	names := directory.New(directory.Config{Of: calls, Memory: ledger, Now: time.Now})
//	state = names.Resolve(state)        // puts in the ids that are known; asks nothing
//	next := names.Look(ctx, state)      // asks for those that are not, and for old ones again
//	err := names.Check(account, zone)   // why a zone must not be worked on, by what is known
//	err = names.Confirm(ctx, account, zone) // the same, directly before a write
//
// What comes in are declared states and the lists of an [edge.Directory]; what goes out
// are states with ids. A zone whose id is not known has a stand-in ([desired.Sought]) in
// its place, so its problem is its own: everything else in the state goes on, and it is
// looked up again later, with pauses that grow. Known names are kept on record, so that a
// fleet is listed once and then not again for six hours.
//
// The laws: what is resolved is resolved the same again; no two zones of a state get one
// id; an id that is declared stays; a zone is never given the id of a zone that the
// platform last listed under another name.
//
// facts.go has what is known, resolve.go and verdict.go decide by it and are pure,
// look.go and confirm.go ask the platform.
package directory

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Config is what [Names] are made from. Now is required.
type Config struct {
	// Of returns the calls that list the zones of an account, by the account's key. It
	// returns nil, as a nil Of does, where the platform is not known to have them: then
	// only declared ids are used, and nothing is compared.
	Of func(account string) edge.Directory
	// OnlyUndeclared has the platform asked only for what has no declared id. The names of
	// declared ids are then not compared.
	OnlyUndeclared bool
	// Memory keeps what was found over restarts; nil keeps it in this process alone.
	// ReadOnly says that it is only read.
	Memory   reconcile.NameMemory
	ReadOnly bool
	Now      func() time.Time
	Log      *slog.Logger // nil discards
}

// Names knows which ids zones and accounts have. It is safe for concurrent use. Make it
// with [New].
type Names struct {
	Config

	mu    sync.Mutex // guards facts; never held while the platform or the record is asked
	facts facts
	turns map[edge.AccountID]chan struct{} // who asks about an account before a write, one at a time

	poked reconcile.Pokes
}

// New returns names of which nothing is known yet; see [Names.Recall].
func New(config Config) *Names {
	if config.Of == nil {
		config.Of = func(string) edge.Directory { return nil }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	known := newFacts()
	known.onlyUndeclared = config.OnlyUndeclared
	return &Names{Config: config, facts: known, turns: map[edge.AccountID]chan struct{}{}, poked: reconcile.NewPokes()}
}

// Poke asks whoever looks names up to do that now; see [Names.Poked].
func (n *Names) Poke() { n.poked.Poke() }

// Poked has a value when names are to be looked up before it is time: someone pokes, or a
// name turned out to be doubtful.
func (n *Names) Poked() <-chan struct{} { return n.poked }

// Recall takes in what is on record and newer than what is known: at the start, and
// after another process has looked names up.
func (n *Names) Recall(ctx context.Context) error {
	if n.Memory == nil {
		return nil
	}
	names, err := n.Memory.Names(ctx)
	if err != nil {
		return fmt.Errorf("recalling the names of zones: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.facts.recall(names)
	return nil
}

// save puts on record what is known of the zones of a state. Without it names are only
// asked for again.
func (n *Names) save(ctx context.Context, state desired.State) {
	if n.Memory == nil || n.ReadOnly {
		return
	}
	n.mu.Lock()
	names := n.facts.record(state)
	n.mu.Unlock()
	if err := n.Memory.SaveNames(context.WithoutCancel(ctx), names); err != nil {
		n.Log.WarnContext(ctx, "the names of zones cannot be recorded; they are looked up again after a restart", "error", err.Error())
	}
}

// Resolve returns a state with the ids that are known. Those that are not known have a
// stand-in. It asks nothing, and does not change what it is given. The next state takes over
// from it what is the same: neither may be changed afterwards.
func (n *Names) Resolve(state desired.State) desired.State {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.facts.resolve(state)
}

// Check says why a zone of a resolved state must not be worked on, by what is known; nil
// where nothing is against it. The error is a [*diff.NameError].
func (n *Names) Check(a desired.Account, z desired.Zone) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.facts.verdict(a, z, n.Of(a.Key) != nil); err != nil {
		return err
	}
	return nil
}

// CheckAccount is that for an account alone.
func (n *Names) CheckAccount(a desired.Account) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.facts.ofAccount(a, n.Of(a.Key) != nil); err != nil {
		return err
	}
	return nil
}

// Doubt notes that the platform does not know the id of a zone any more: its name is
// looked up again. It reports whether that is to be done: not of a declared id, nor just
// after it was.
func (n *Names) Doubt(a desired.Account, z desired.Zone) bool {
	if !z.ByName {
		return false
	}
	n.mu.Lock()
	doubted := n.facts.doubt(a, z, n.Now())
	n.mu.Unlock()
	if doubted {
		n.Poke()
	}
	return doubted
}

// Shown is the name of a zone as the platform writes it, by what is known; empty for not
// known, and for one that is not listed any more.
func (n *Names) Shown(account edge.AccountID, zone edge.Scope) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known := n.facts.zonesOf(account).ids[zone.ID]; !known.gone {
		return known.shown
	}
	return ""
}

// Plan is the plan of a zone in one word, as the platform listed it last; empty for not known, and
// for a zone that is not listed any more. It is not asked for by itself.
func (n *Names) Plan(account edge.AccountID, zone edge.Scope) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known := n.facts.zonesOf(account).ids[zone.ID]; zone.Level == edge.LevelZone && !known.gone {
		return known.plan
	}
	return ""
}
