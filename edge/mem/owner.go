package mem

import (
	"context"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Rulesets are the calls on the rulesets of one zone or account. Make it with
// [Platform.In]. Bodies are JSON as it came over the wire, because an
// empty array and a missing one are different requests. Of a dry run the answer
// is nil, and nothing changes.
type Rulesets struct {
	p     *Platform
	scope edge.Scope
	dry   bool
}

// In returns the calls on the rulesets of a scope; a write of a dry run is
// only validated.
func (p *Platform) In(scope edge.Scope, dry bool) Rulesets { return Rulesets{p, scope, dry} }

// holder is an owner that exists. The caller holds the lock.
type holder struct {
	edge.Scope
	zone    *SeedZone
	account *SeedAccount // of the zone, or itself
}

// open begins a call: it locks, and finds the owner. Where it fails, nothing
// stays locked.
func (r Rulesets) open(ctx context.Context, call string) (holder, error) {
	if err := r.p.enter(ctx, call, false); err != nil {
		return holder{}, err
	}
	h := r.p.holder(r.scope)
	if h.account == nil {
		r.p.mu.Unlock()
		return h, notFound(call, string(r.scope.Level), r.scope.ID)
	}
	return h, nil
}

// holder is the owner that a scope names, without an account where there is none. The caller
// holds the lock.
func (p *Platform) holder(scope edge.Scope) holder {
	h := holder{Scope: scope}
	if id, ok := scope.Account(); ok {
		h.account = p.account(id)
	} else if id, ok := scope.Zone(); ok {
		if h.zone = p.zone(id); h.zone != nil {
			h.account = p.account(h.zone.AccountID)
		}
	}
	return h
}

// openRuleset begins a call on a ruleset that can be read there or, for a write, that is the
// owner's own. Where there is none, nothing stays locked.
func (r Rulesets) openRuleset(ctx context.Context, call string, id edge.RulesetID, write bool) (holder, *edge.Ruleset, error) {
	h, err := r.open(ctx, call)
	if err != nil {
		return h, nil, err
	}
	list := h.visible()
	if write {
		list = h.own()
	}
	found := withID(list, id)
	if found == nil || write && found.Kind == edge.KindManaged {
		r.p.mu.Unlock()
		return h, nil, notFound(call, "ruleset", string(id))
	}
	return h, found, nil
}

// own are the owner's rulesets.
func (h holder) own() []*edge.Ruleset {
	var list []*edge.Ruleset
	if h.zone == nil {
		for i := range h.account.Rulesets {
			list = append(list, &h.account.Rulesets[i])
		}
		return list
	}
	if h.zone.EntryPoint != nil {
		list = append(list, h.zone.EntryPoint)
	}
	for i := range h.zone.Rulesets {
		list = append(list, &h.zone.Rulesets[i])
	}
	return list
}

// visible are the owner's rulesets, and those that can be deployed there.
func (h holder) visible() []*edge.Ruleset {
	list := h.own()
	for i := range h.account.Rulesets {
		if h.zone != nil && h.account.Rulesets[i].Kind == edge.KindManaged {
			list = append(list, &h.account.Rulesets[i])
		}
	}
	return list
}

func withID(list []*edge.Ruleset, id edge.RulesetID) *edge.Ruleset {
	i := slices.IndexFunc(list, func(r *edge.Ruleset) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// entryPoint is the owner's entry point of a phase, nil where there is none.
func (h holder) entryPoint(phase edge.Phase) *edge.Ruleset {
	list := h.own()
	i := slices.IndexFunc(list, func(r *edge.Ruleset) bool { return r.Kind == h.EntryKind() && r.Phase == phase })
	if i < 0 {
		return nil
	}
	return list[i]
}

// put adds a ruleset to the owner.
func (h holder) put(r edge.Ruleset) {
	switch {
	case h.zone == nil:
		h.account.Rulesets = append(h.account.Rulesets, r)
	case r.Phase == edge.PhaseFirewallManaged:
		h.zone.EntryPoint = &r
	default:
		h.zone.Rulesets = append(h.zone.Rulesets, r)
	}
}

// drop takes a ruleset away from the owner.
func (h holder) drop(id edge.RulesetID) {
	is := func(r edge.Ruleset) bool { return r.ID == id }
	switch {
	case h.zone == nil:
		h.account.Rulesets = slices.DeleteFunc(h.account.Rulesets, is)
	case h.zone.EntryPoint != nil && h.zone.EntryPoint.ID == id:
		h.zone.EntryPoint = nil
	default:
		h.zone.Rulesets = slices.DeleteFunc(h.zone.Rulesets, is)
	}
}

// List lists the rulesets in the order of the seed, without their rules. A zone
// lists the managed rulesets of its account too.
func (r Rulesets) List(ctx context.Context) ([]edge.Ruleset, error) {
	h, err := r.open(ctx, "GET "+edge.RulesetsPath(r.scope))
	if err != nil {
		return nil, err
	}
	defer r.p.mu.Unlock()
	list := []edge.Ruleset{}
	for _, ruleset := range h.visible() {
		list = append(list, summary(*ruleset))
	}
	return list, nil
}

func summary(r edge.Ruleset) edge.Ruleset {
	r.Rules = nil
	return clone(r)
}

// Get returns one ruleset with its rules. Under the quirk ruleset-bump a read of
// a managed one may find a newer version.
func (r Rulesets) Get(ctx context.Context, id edge.RulesetID) (edge.Ruleset, error) {
	_, found, err := r.openRuleset(ctx, "GET "+edge.RulesetPath(r.scope, id), id, false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	defer r.p.mu.Unlock()
	r.p.bumpOnRead(found)
	return r.p.behaviour.answer(*found), nil
}

// EntryPoint returns the entry point of a phase. An owner without one and an
// owner that does not exist are different errors.
func (r Rulesets) EntryPoint(ctx context.Context, phase edge.Phase) (edge.Ruleset, error) {
	call := "GET " + edge.EntryPointPath(r.scope, phase)
	h, err := r.open(ctx, call)
	if err != nil {
		return edge.Ruleset{}, err
	}
	defer r.p.mu.Unlock()
	found := h.entryPoint(phase)
	if found == nil {
		return edge.Ruleset{}, entryPointNotFound(call, phase)
	}
	return r.p.behaviour.answer(*found), nil
}

// UpdateRule updates a rule of a ruleset of the owner.
//
// Without quirks the body replaces the rule's definition; the members that only
// the platform writes (id, version, last_updated) are ignored in it. The
// versions of rule and ruleset grow by 1 and both get a new last_updated, also
// when the body says nothing new. A body that has nothing but a position moves
// the rule.
func (r Rulesets) UpdateRule(ctx context.Context, id edge.RulesetID, rule edge.RuleID, body []byte) (*edge.Ruleset, error) {
	call := "PATCH " + edge.RulePath(r.scope, id, rule)
	return r.change(ctx, call, id, func(w write) error {
		i := slices.IndexFunc(w.next.Rules, func(live edge.Rule) bool { return live.ID == rule })
		if i < 0 {
			return ruleNotFound(call, rule)
		}
		body, at, details := w.position(body)
		if len(details) > 0 {
			return invalid(call, details)
		}
		live := w.next.Rules[i]
		if body != nil {
			next, details := w.rule(live, body)
			if len(details) > 0 {
				return invalid(call, details)
			}
			next.ID, next.Version, next.LastUpdated = live.ID, nextVersion(live.Version), w.now
			w.p.checks.complete(&next)
			w.next.Rules[i] = next
		}
		return at.move(call, w.next, i)
	})
}

// write is a change of one ruleset on its way.
type write struct {
	p         *Platform
	behaviour behaviour
	next      *edge.Ruleset // to be changed
	h         holder
	now       string
}

// rule is the rule that live becomes by a body; live is zero for a new one.
func (w write) rule(live edge.Rule, body []byte) (edge.Rule, []edge.ErrorDetail) {
	next, details := w.behaviour.update(live, body)
	if members, err := object(body); err == nil {
		details = append(details, w.p.checks.rule(members, *w.next, w.h)...)
	}
	return next, details
}

// change does something to a copy of a ruleset, and keeps it when all is well:
// with the version and time of a write.
func (r Rulesets) change(ctx context.Context, call string, id edge.RulesetID, do func(write) error) (*edge.Ruleset, error) {
	h, live, err := r.openRuleset(ctx, call, id, true)
	if err != nil {
		return nil, err
	}
	defer r.p.mu.Unlock()
	next := clone(*live)
	w := write{r.p, r.p.behaviour, &next, h, r.p.timestamp()}
	if err := do(w); err != nil {
		return nil, err
	}
	if details := r.p.checks.ruleset(next, len(live.Rules), h); len(details) > 0 {
		return nil, invalid(call, details)
	}
	if r.dry {
		return nil, nil
	}
	r.p.remember(*live)
	next.Version, next.LastUpdated = nextVersion(live.Version), w.now
	*live = next
	answer := r.p.behaviour.answer(next)
	return &answer, nil
}
