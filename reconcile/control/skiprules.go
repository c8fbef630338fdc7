package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
)

// skipRules are the skip rules that act on deployments of a zone, by where they are. One that
// acts on several is one.
type skipRules map[skipRuleAt]skipRuleSeen

type skipRuleAt struct {
	level edge.Level
	phase edge.Phase
	rule  edge.RuleID
}

// skipRuleSeen is one with the entry by which the history has that it appeared, or changed; nil
// where it has none.
type skipRuleSeen struct {
	diff.Bypass
	told *reconcile.Entry
}

// skipRules are the entries of the skip rules of a zone that have appeared or changed without
// Seawall, and of those that are gone again; and which there are now. One that Seawall removes
// or corrects is drift that is corrected, and has its entries with that.
func (s *state) skipRules(o Outcome) (entries []reconcile.Entry, now skipRules) {
	g := s.current.Load()
	z := s.zones.of(o.Scope)
	before := z.skips
	if g == nil || g.declaration(o.Scope) != o.Fingerprint || len(before)+len(o.Plan.Bypasses) == 0 {
		return nil, before
	}
	now = skipRules{}
	for _, b := range o.Plan.Bypasses {
		at := skipRuleAt{b.Level, b.Phase, b.Rule}
		if _, twice := now[at]; twice {
			continue
		}
		was, known := before[at]
		seen, entry := was.becomes(b, known, z.recalled)
		if entry != nil {
			entries = append(entries, *entry)
		}
		now[at] = seen
	}
	return append(entries, now.gone(g, o, before)...), now
}

// keepSkips takes over the skip rules that have no entry in the history: what they were is on record nowhere,
// so that a change of one would not be seen.
func (zs *zones) keepSkips(earlier zones) {
	for id, before := range earlier.records {
		z := zs.records[id]
		if z == nil {
			continue
		}
		for at, seen := range before.skips {
			if seen.told != nil {
				continue // the history has it
			}
			if z.skips == nil {
				z.skips = skipRules{}
			}
			z.skips[at] = seen
		}
	}
}

// becomes is a skip rule as it is now, with the entry that says so; nil for none. Until what the history has is
// recalled, one that may be in it waits: it would be told twice.
func (r skipRuleSeen) becomes(b diff.Bypass, known, recalled bool) (skipRuleSeen, *reconcile.Entry) {
	switch {
	case b.Remove, b.Corrected():
		return skipRuleSeen{b, nil}, nil
	case b.State == diff.BypassAccepted && known && r.Expression != b.Expression: // as accepted again, or by now
		back := reconcile.SkipRuleEntry(&r.Bypass, &b)
		if r.NeedsPerson() {
			back.Direction = diff.Strengthens
		}
		return skipRuleSeen{b, nil}, &back
	case recalled && (b.State == diff.BypassNew || b.State == diff.BypassChanged), known && becameAnother(r.Bypass, b):
		came, differs := reconcile.SkipRuleEntry(beforeIt(b, r, known), &b), true
		if r.told != nil {
			came, differs = came.After(*r.told)
		}
		if differs {
			return skipRuleSeen{b, &came}, &came
		}
	}
	return skipRuleSeen{b, r.told}, nil
}

// gone are the entries of the skip rules that were there before and are not now; those of which
// that is not known stay.
func (r skipRules) gone(g *Generation, o Outcome, before skipRules) (entries []reconcile.Entry) {
	for at, was := range before {
		switch _, there := r[at]; {
		case there:
		case !isGone(g, o, was.Bypass):
			r[at] = was
		case was.told != nil:
			entries = append(entries, was.told.Ended())
		}
	}
	return entries
}

// becameAnother reports whether a skip rule that a declaration accepts as something else was
// changed. Which rules it skips is not compared: that changes with the overrides, too.
func becameAnother(was, b diff.Bypass) bool {
	return was.Expression != b.Expression || b.State == diff.BypassDiffers && b.All && !was.All
}

// beforeIt is what a skip rule was before it appeared, or changed; nil for nothing. What one that
// changed before this process began was is not known.
func beforeIt(b diff.Bypass, was skipRuleSeen, known bool) *diff.Bypass {
	switch {
	case known:
		return &was.Bypass
	case b.State == diff.BypassChanged:
		b.Expression = "(not known)" // and what it skipped is not, either
		return &b
	}
	return nil
}

// toldSkipRules are the entries by which the history has the skip rules that are there, by their zones:
// read once for all zones, so that not each zone is asked for. What this process tells of a zone after
// that is not in it, so it serves zones that were not recalled yet. It is read anew once another process
// may have told more, or a zone was forgotten: after everything on record was taken in, and for another
// generation. Where that has hung, no zone asks again until a pause is over, whatever has changed since: each
// would wait as long as the first one has.
type toldSkipRules struct {
	mu       sync.Mutex // held while they are read, and guards what follows
	of       map[edge.Scope][]reconcile.Entry
	restored uint64
	under    *identity // of the generation, and not the generation, which would stay in memory
	known    bool

	failed   error // with which the last one hung; nil: none has
	failures int   // in a row
	again    time.Time
}

// tellWithin is how long the history may take to say which skip rules there are: all zones that were
// not recalled yet wait meanwhile.
const tellWithin = 15 * time.Second

// tellAgain is when it is asked again after that.
var tellAgain = retry.Ledger.Within(time.Minute)

// recallSkipRules has what an earlier process has told of the skip rules of a zone: once, before
// the first of this one.
func (c *Control) recallSkipRules(ctx context.Context, zone edge.Scope) error {
	for {
		c.mu.Lock()
		known, restored, under := c.state.zones.of(zone).recalled, c.state.restored, c.Current().is()
		c.mu.Unlock()
		if known {
			return nil
		}
		entries, err := c.told.zone(ctx, c.Records, c.Now, zone, restored, under)
		if err != nil {
			err = fmt.Errorf("reading which skip rules came without Seawall: %w", err)
		}
		if err != nil && entries == nil || c.recallTold(zone, entries, restored) {
			return err
		}
	}
}

// zone returns those of one zone. Entries that cannot be read are left out, and whoever has them read
// gets the error with the others: it is not each zone's.
func (t *toldSkipRules) zone(
	ctx context.Context, records Records, now func() time.Time, zone edge.Scope, restored uint64, under *identity,
) ([]reconcile.Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.known && t.restored == restored && t.under == under:
		return t.of[zone], nil
	case t.failed != nil && now().Before(t.again):
		return nil, t.failed
	}
	within, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	all, err := records.SkipRules(within)
	if err != nil && all == nil {
		if ctx.Err() == nil && within.Err() != nil { // else nobody has waited for long, or only the one who asks has ended
			t.failures++
			t.failed, t.again = err, now().Add(tellAgain.Delay(t.failures))
		}
		return nil, err
	}
	t.failed, t.failures = nil, 0
	t.of, t.restored, t.under, t.known = map[edge.Scope][]reconcile.Entry{}, restored, under, true
	for _, e := range all {
		t.of[e.Subject.Scope] = append(t.of[e.Subject.Scope], e)
	}
	return append([]reconcile.Entry{}, t.of[zone]...), err
}

// recallTold takes in what was told of a zone; false where everything on record was taken in since.
func (c *Control) recallTold(zone edge.Scope, entries []reconcile.Entry, restored uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.restored != restored {
		return false
	}
	z := c.state.zones.of(zone)
	z.recalled = true
	for _, e := range entries {
		if b, there := e.SkipRule(); there {
			if z.skips == nil {
				z.skips = skipRules{}
			}
			z.skips[skipRuleAt{b.Level, b.Phase, b.Rule}] = skipRuleSeen{b, &e}
		}
	}
	return true
}

// isGone reports whether a skip rule does not act any more, because of nothing that git says:
// its place was looked at, and the deployment is declared and there.
func isGone(g *Generation, o Outcome, b diff.Bypass) bool {
	t, declared := g.Task(o.Scope)
	if !declared {
		return false
	}
	for _, p := range o.Plan.Problems {
		if p.State != diff.Bypassed && p.State != diff.Undecided && (p.Deployment == "" || p.Deployment == b.Deployment) {
			return false
		}
	}
	if b.Level != o.Scope.Level || b.Phase != edge.PhaseFirewallManaged {
		scope := o.Scope
		if b.Level == edge.LevelAccount {
			scope = edge.AccountScope(t.Account().ID)
		}
		if seen, looked := o.Ahead[scope.At(b.Phase)]; !looked || seen.Failed() != nil {
			return false
		}
	}
	for _, d := range t.Zone().Deployments {
		if d.Name() == b.Deployment {
			return true
		}
	}
	return false
}

// recordSkipRules puts on record which skip rules have come and gone, and remembers them.
func (c *Control) recordSkipRules(ctx context.Context, zone edge.Scope, entries []reconcile.Entry, now skipRules) error {
	if len(entries) > 0 {
		slices.SortFunc(entries, func(a, b reconcile.Entry) int { return strings.Compare(a.Subject.Ref, b.Subject.Ref) })
		if err := c.Records.Record(ctx, entries...); err != nil {
			return fmt.Errorf("recording a skip rule that was changed without Seawall: %w", err)
		}
	}
	if now == nil {
		return nil // most zones have none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	z := c.state.zones.of(zone)
	if z.skips = now; len(now) == 0 {
		z.skips = nil
	}
	return nil
}
