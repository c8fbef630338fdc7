package once

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// names returns the names of the run.
func (r *Run) names() *directory.Names {
	if r.Names == nil {
		r.Names = directory.New(directory.Config{Now: r.Now})
	}
	return r.Names
}

// observe finds the ids of the zones that are asked for, and reads these zones. Where the
// platform does not know an id any more, the name is looked up again, and what has another
// id then is read.
func (r *Run) observe(ctx context.Context, p *planned, writes bool) error {
	if err := r.names().Recall(ctx); err != nil {
		return err
	}
	doubts := &doubts{Names: r.names()}
	many := zone.Many{
		Lanes: r.Lanes, Documented: r.Guards.Documented, Names: doubts, Now: r.Now, Removable: control.PrunableByZone(p.record.Prunable),
		Looking:  &r.Guards.Looking,
		Progress: func(done, total int) { r.Progress.Show("observing zones", done, total) },
	}
	if err := r.lookUp(ctx, p, writes); err != nil {
		return err
	}
	r.log().DebugContext(ctx, "run begins", "commit", p.state.Commit, "zones", p.scope.Zones())
	var err error
	if p.seen, err = many.Read(ctx, p.scope); err != nil || !doubts.any.Load() {
		return err
	}
	before := p.state
	if err := r.lookUp(ctx, p, writes); err != nil {
		return err
	}
	if !directory.SameIDs(before, p.state) {
		p.seen, err = many.Read(ctx, p.scope)
		return err
	}
	for a, z := range p.scope.EachZone() {
		if err := r.names().Check(a, z); err != nil {
			p.seen.Unread(z, many.Removable[z.Scope], err)
		}
	}
	return nil
}

// lookUp finds ids: those of all zones before anything is accepted, else of those that
// are asked for.
func (r *Run) lookUp(ctx context.Context, p *planned, writes bool) (err error) {
	if p.scope, p.tokens, err = scopeOf(p.state, p.order); err != nil {
		return err
	}
	wanted := withOwners(p.scope, p.state.Accounts)
	if writes {
		wanted = p.state
	}
	if slices.ContainsFunc(wanted.Accounts, anyNamed) {
		r.Progress.Show("looking up names", 0, 0)
	}
	r.names().Look(ctx, wanted)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.state = r.names().Resolve(p.state)
	p.scope, p.tokens, err = scopeOf(p.state, p.order)
	return err
}

// withOwners adds to a state the accounts that own its tokens, without their zones.
func withOwners(state desired.State, all []desired.Account) desired.State {
	state.Accounts = slices.Clone(state.Accounts)
	for _, a := range all {
		owns := slices.ContainsFunc(state.Tokens, func(t desired.Token) bool { return t.Account == a.Key })
		if owns && !slices.ContainsFunc(state.Accounts, func(have desired.Account) bool { return have.Key == a.Key }) {
			a.Zones = nil
			state.Accounts = append(state.Accounts, a)
		}
	}
	return state
}

func anyNamed(a desired.Account) bool {
	return a.Name != "" || slices.ContainsFunc(a.Zones, func(z desired.Zone) bool { return z.Name != "" })
}

// doubts are names that know whether one was doubted.
type doubts struct {
	zone.Names
	any atomic.Bool
}

func (d *doubts) Doubt(a desired.Account, z desired.Zone) bool {
	doubted := d.Names.Doubt(a, z)
	if doubted {
		d.any.Store(true)
	}
	return doubted
}
