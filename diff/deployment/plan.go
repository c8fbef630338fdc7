// Package deployment plans the deployments of managed rulesets: declarations and
// what is live go in, changes and problems come out ([Kind]). One
// deployment passes through it like this:
//
//	find        declared name → managed ruleset       (find.go)
//	resolve     intent → claims on override entries   (resolve.go)
//	merge       live rule + claims → wanted rule      (merge.go, slot.go, neutral.go)
//	compare     live and wanted, as sets → fields     (compare.go)
//	direction   effective values before and after     (effective.go, direction.go)
//
// [Kind.Restore] plans the other way: what was live before a write.
//
// The laws: a rule that was written as planned is planned no more, on a platform
// that replaces and on one that merges; under "keep", what no declaration owns stays
// member for member; and a [diff.Memory] changes no plan. It must not import diff/token,
// nor what is done with plans.
package deployment

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Name is that of the kind.
const Name desired.KindName = "deployment"

// Kind is that of deployments; see [diff.Kind].
type Kind struct{}

// Name implements [diff.Kind].
func (Kind) Name() desired.KindName { return Name }

// Phases implements [diff.Kind].
func (Kind) Phases(zone desired.Zone, removable diff.Pruning) []edge.Phase {
	if len(zone.Deployments) == 0 && !removable.Of("") {
		return nil
	}
	return []edge.Phase{edge.PhaseFirewallManaged}
}

// Declared implements [diff.Kind].
func (Kind) Declared(account desired.Account, live diff.AccountLive) iter.Seq2[diff.ID, bool] {
	ids := map[string]edge.RulesetID{}
	for _, ref := range account.Rulesets {
		if found, err := rulesets.Find(ref, live.Listed.Value); live.Listed.Err == nil && err == nil {
			ids[ref.Key] = found.ID
		}
	}
	return func(yield func(diff.ID, bool) bool) {
		for _, zone := range account.Zones {
			for _, d := range zone.Deployments {
				id, sure := ids[d.Ruleset]
				if !yield(diff.ID{Scope: zone.Scope, Ruleset: id, Ref: d.Ref}, sure) {
					return
				}
			}
		}
	}
}

// Plan implements [diff.Kind]: it plans all declared deployments of the zones that were read.
func (Kind) Plan(in diff.Input) diff.Part {
	p := planners.Get().(*planner) //nolint:forcetypeassert // it has no others
	defer p.spare()
	p.in, p.prunable = in, byZone(in.Prunable)
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			if entryPoint, read := in.Live.EntryPoints[zone.Scope.At(edge.PhaseFirewallManaged)]; read {
				problems := len(p.out.Problems)
				p.planZone(account, zone, entryPoint)
				p.planRemovals(account, zone, entryPoint)
				if unreadable(entryPoint.Err) && len(p.out.Problems) == problems { // it declares no deployment
					p.problem(place{account: account, zone: zone}, p.unreadZone(account, zone, entryPoint.Err))
				}
			}
		}
	}
	return p.out
}

// planners are spare ones: it is large, and a zone is planned alone, before a write and after it.
var planners = sync.Pool{New: func() any { return new(planner) }}

// spare keeps a planner for the next plan. What it has planned holds nothing of it.
func (p *planner) spare() {
	p.empty()
	planners.Put(p)
}

// empty leaves nothing but room.
func (p *planner) empty() {
	clear(p.places[:cap(p.places)])
	*p = planner{places: p.places[:0]}
}

type planner struct {
	in      diff.Input
	out     diff.Part
	managed []lookup // of the account at work
	account string   // its key

	prunable map[edge.Scope][]diff.ID

	// Of the zone at work: where skip rules were looked for, whether there may be one, and
	// those that act on its deployments.
	places    []looked
	skipping  bool
	bypassing []bypassed

	known   func(name string) diff.Deployed // in place of what is declared; nil: as declared
	written map[string][]*edge.Overrides    // of its deployments at which something else is declared
}

// place is where in the declaration the planner is.
type place struct {
	account desired.Account
	zone    desired.Zone
	d       desired.Deployment

	declared *desired.Deployment // where d was copied from
}

func (p *planner) planZone(account desired.Account, zone desired.Zone, entryPoint diff.Observed[edge.Ruleset]) {
	p.look(account, zone, entryPoint.Value)
	defer p.tellBypasses(account, zone)
	if !unreadable(entryPoint.Err) {
		defer p.tellDeployed(account, zone, entryPoint.Value)
	}
	for i, d := range zone.Deployments {
		at := place{account, zone, d, &zone.Deployments[i]}
		switch {
		case errors.Is(entryPoint.Err, edge.ErrEntryPointNotFound):
			p.absent(at, edge.Ruleset{}, fmt.Sprintf("the %s has no entry point ruleset", zone.Scope.Level))
		case entryPoint.Err != nil:
			p.problem(at, p.unreadZone(account, zone, entryPoint.Err))
		default:
			p.planDeployment(at, entryPoint.Value)
		}
	}
}

// unreadable reports whether nothing is known of a zone: one without an entry point is known.
func unreadable(err error) bool { return err != nil && !errors.Is(err, edge.ErrEntryPointNotFound) }

func (p *planner) unreadZone(account desired.Account, zone desired.Zone, err error) diff.Problem {
	listErr := p.in.Live.Accounts[account.ID].Listed.Err
	hint := hintForbiddenZone
	switch {
	case zone.Scope.Level == edge.LevelAccount:
		hint = hintForbiddenRoot
	case errors.Is(listErr, edge.ErrForbidden):
		hint = hintForbiddenAccount // the zone was not even asked for
	}
	if listErr != nil {
		return unread(err, hint, zone.Origin)
	}
	return unreadListed(err, hint, zone.Origin)
}

func (p *planner) planDeployment(at place, entryPoint edge.Ruleset) {
	found, ok := p.findManaged(at)
	if !ok {
		return
	}
	rule, ok := p.findRule(at, entryPoint, found)
	if !ok {
		return
	}
	pin, ok := p.pinned(at, rule, found)
	if !ok {
		return
	}
	m := pin.managed
	id := diff.ID{Scope: at.zone.Scope, Ruleset: m.ID, Ref: at.d.Ref}
	before := p.in.Applied[id]
	acting := p.bypasses(at, entryPoint, rule, m, before)
	p.bypassing = append(p.bypassing, acting...)
	inputs := p.inputsOf(at, id, entryPoint, m)
	if s, known := p.in.Memory.Recall(id, inputs); known {
		p.keep(at, s.Kept)
		p.settle(at, id, rule, p.withLooked(s.Owned, before, acting))
		return
	}
	intent, ok := p.intentOf(at, m, found)
	if !ok {
		return
	}
	intent.decided = intent.decided.remembering(before, p.in.Reports)
	w := p.wanted(intent, rule, before, pin)
	p.writes(at, overridesOf(w.rule))
	w.owned = p.withLooked(w.owned, before, acting)
	kept := intent.decided.with(desired.Keep, w.leftovers)
	p.keep(at, kept)
	fields := append(calledFields(rule, w.rule), compare(rule, w.rule, m)...)
	problems := w.problems(intent, m)
	for _, problem := range problems {
		p.problem(at, problem)
	}
	w.owned = once(w.owned, before)
	if len(fields) == 0 {
		if len(problems) == 0 {
			inputs.Owned, inputs.Kept = w.owned, kept
			p.in.Memory.Keep(id, inputs)
		}
		p.settle(at, id, rule, w.owned)
		return
	}
	direct(fields, rule, w.rule, pin)
	annotate(fields, intent, m)
	w.explain(fields, func() string { return pin.note(found, overridesOf(rule)) })
	w.explainNew(fields, intent)
	pin.hedge(fields)
	p.update(at, id, entryPoint, rule, w, fields)
}

// once has each member be the text that there is of it already: what a deployment owns stays in
// memory, as do the changes of a whole fleet, and most zones own the same; mostly as before.
func once(members, before []diff.Member) []diff.Member {
	if slices.Equal(members, before) {
		return before
	}
	for i, m := range members {
		members[i] = unique.Make(m).Value()
	}
	return members
}

// update notes the change of an execute rule that is there.
func (p *planner) update(at place, id diff.ID, entryPoint edge.Ruleset, rule edge.Rule, w wanted, fields []diff.Field) {
	p.out.Changes = append(p.out.Changes, diff.Change{
		Kind: Name, Account: at.account.Key, Zone: at.zone.Key, Scope: at.zone.Scope, ByName: at.zone.ByName, ZoneOrigin: at.zone.Origin, Deployment: at.d.Name(),
		Direction: directionOf(fields), Origin: at.d.Origin, Fields: fields,
		Operation: diff.RuleOperation{
			Do:     diff.ActionUpdate,
			Target: diff.Target{Phase: edge.PhaseFirewallManaged, Ruleset: id.Ruleset, Ref: id.Ref, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID, Owned: w.owned},
			Body:   w.rule,
		},
	})
}

// intent is a declaration, resolved against its managed ruleset.
type intent struct {
	declared desired.Deployment
	claims   claims
	decided  decisions
}

// intentOf resolves a declaration against the version that it is to run, or reports each of
// its mistakes.
func (p *planner) intentOf(at place, m, found *managed) (intent, bool) {
	claims, errs := resolve(at.d, m)
	hintAtLatest(errs, at.d, m, found)
	if p.in.Live.Accounts[at.account.ID].Documented {
		errs = append(errs, beyondReference(at.d)...)
	}
	decided, undecidable := m.decide(at.d)
	errs = m.moved(at.d, p.in.Applied[diff.ID{Scope: at.zone.Scope, Ruleset: m.ID, Ref: at.d.Ref}], append(errs, undecidable...))
	for _, e := range errs {
		p.problem(at, diff.Problem{State: diff.Blocked, Unfit: true, Reason: e.message, Hint: e.hint, Origin: cmp.Or(e.origin, at.d.Origin)})
	}
	return intent{at.d, claims, decided}, len(errs) == 0
}

// wanted is an execute rule as it should be, and what is to be known of it.
type wanted struct {
	rule      edge.Rule
	leftovers []diff.Leftover // override members that nothing declares
	drifted   *diff.Leftover  // an expression that nothing declares and that was changed
	owned     []diff.Member   // to remember once it is proved
	standIns  []diff.Member   // entries that have no effect and keep a list from being empty
}

// explain says why fields change that nobody declares, and what a version changes.
func (w wanted) explain(fields []diff.Field, version func() string) {
	for i := range fields {
		f := &fields[i]
		list, key, _ := f.Path.Override()
		switch {
		case f.Path == versionMember:
			f.Note = version()
		case f.New != nil && list != "" && (slices.Contains(w.standIns, f.Path) || slices.Contains(w.standIns, entryMember(list, key, ""))):
			f.Note = strings.TrimPrefix(f.Note+"; same as unset: the platform keeps a list that is left out", "; ")
		}
	}
}

// wanted writes what a declaration owns into a live execute rule. before is what was
// remembered of it.
func (p *planner) wanted(in intent, live edge.Rule, before []diff.Member, pin pin) (w wanted) {
	m := pin.managed
	mg := merger{managed: m, decisions: in.decided, merges: p.in.Merges, before: setOf(before)}
	parameters := *live.ActionParameters
	parameters.Overrides = mg.merge(parameters.Overrides, in.claims)
	if rulesets.VersionOf(live) != pin.want {
		parameters.Version = pin.want
	}
	var remembered []diff.Member
	w.rule = live.Update()
	enabled := in.declared.Enabled.Value // a copy: a pointer into in would keep all of the intent as long as the plan
	w.rule.ActionParameters, w.rule.Enabled = &parameters, &enabled
	w.rule.Expression, remembered, w.drifted = expressionOf(in.declared, live.Expression, before)
	remembered = append(remembered, restoreCalled(&w.rule, live, before)...)
	for i := range mg.leftovers {
		mg.leftovers[i].Note, _ = m.about(mg.leftovers[i].Path, "")
	}
	if pin.leftover != nil {
		mg.leftovers = append(mg.leftovers, *pin.leftover)
	}
	w.standIns = mg.standIns
	w.leftovers = mg.leftovers
	w.owned = slices.Concat(owned(in.claims, mg.standIns), m.rememberNamed(in.declared), remembered, in.decided.remembered(mg.leftovers, mg.quiet))
	return w
}

// problems are what keeps a deployment from being in sync once all of it is written.
func (w wanted) problems(in intent, m *managed) (all []diff.Problem) {
	open := in.decided.with("", w.leftovers)
	staying := append(in.decided.with(desired.Keep, w.leftovers), open...)
	defeated, others := m.conflicts(in.declared, in.claims, overridesOf(w.rule), staying).because(open)
	if len(open) > 0 {
		all = append(all, undecided(in.declared.Origin, open, in.decided.appeared(open), defeated))
	}
	if w.drifted != nil {
		all = append(all, expressionChanged(in.declared.Origin, *w.drifted))
	}
	return append(all, others.problems()...)
}

// directionOf is the direction of all fields together.
func directionOf(fields []diff.Field) diff.Direction {
	directions := make([]diff.Direction, len(fields))
	for i, f := range fields {
		directions[i] = f.Direction
	}
	return diff.Combine(directions...)
}

// findRule returns the execute rule of a deployment, or reports why it is not
// there or not alone.
func (p *planner) findRule(at place, entryPoint edge.Ruleset, m *managed) (edge.Rule, bool) {
	rules := executions(entryPoint, m.ID, at.d.Ref)
	switch {
	case len(rules) == 1:
		return rules[0], true
	case len(rules) == 0 && at.zone.Scope.Level == edge.LevelAccount:
		p.absentRef(at, entryPoint, m)
	case len(rules) == 0:
		p.absent(at, entryPoint, fmt.Sprintf("no execute rule of the zone runs managed ruleset %q", m.Name))
	default:
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Origin,
			Reason: fmt.Sprintf("%d execute rules of the %s run managed ruleset %q (%s and %s)", len(rules), at.zone.Scope.Level, m.Name, rules[0].ID, rules[1].ID),
			Hint:   "remove all but one of them on the platform; the overrides of two could contradict each other",
		})
	}
	return edge.Rule{}, false
}

func (p *planner) notDeployed(at place, reason, hint string) {
	p.problem(at, diff.Problem{State: diff.NotDeployed, Reason: reason, Hint: hint, Origin: at.d.Origin})
}

// keep notes what a deployment keeps.
func (p *planner) keep(at place, members []diff.Leftover) {
	if len(members) > 0 {
		p.out.Kept = append(p.out.Kept, diff.Kept{
			Account: at.account.Key, Zone: at.zone.Key, Scope: at.zone.Scope, Deployment: at.d.Name(), Members: members,
		})
	}
}

func (p *planner) problem(at place, problem diff.Problem) {
	p.out.Problems = append(p.out.Problems, located(at, problem))
}

func located(at place, problem diff.Problem) diff.Problem {
	problem.Account, problem.Zone, problem.Scope = at.account.Key, at.zone.Key, at.zone.Scope
	problem.Deployment = at.d.Name()
	return problem
}

// inputsOf names what planning a deployment rests on.
func (p *planner) inputsOf(at place, id diff.ID, entryPoint edge.Ruleset, m *managed) diff.Settlement {
	s := diff.Settlement{Declared: at.declared, Count: len(entryPoint.Rules), Applied: p.in.Applied[id]}
	if len(entryPoint.Rules) > 0 {
		s.Rules = &entryPoint.Rules[0]
	}
	if len(m.Rules) > 0 {
		s.Managed = &m.Rules[0]
	}
	return s
}
