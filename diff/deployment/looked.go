package deployment

import (
	"errors"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/bypass"
	"github.com/seawall-dev/seawall/edge"
)

// What is on record of skip rules: a member for each place that was looked at, and behind it the
// id and the hash of each skip rule that acted on the deployment there and needed no person. They
// are the last of what is on record. A place that was not looked at keeps what was there.
const ofBypass = "bypass "

// idleRule is in the place of the hash of a skip rule of the entry point that had no effect on the
// deployment: one that is off, stands behind, or skips something else. It may have one later
// without anybody touching it, because the deployment is created again behind it, or runs more
// rules. It is not new then, and never removed.
const idleRule = "idle"

// unreadRuleset is in the place of the hash of a ruleset that is executed in a place and could
// not be read when that was looked at first: what it has is not new.
const unreadRuleset = "unread"

// marks are the members that say that places were looked at.
var marks = func() map[edge.Place]diff.Member {
	all := map[edge.Place]diff.Member{}
	for _, level := range []edge.Level{edge.LevelZone, edge.LevelAccount} {
		for _, phase := range append([]edge.Phase{edge.PhaseFirewallManaged}, diff.PhasesAhead[:]...) {
			all[edge.Place{Scope: edge.Scope{Level: level}, Phase: phase}] = diff.Member(ofBypass + string(level) + " " + string(phase))
		}
	}
	return all
}()

// looked is a place in which skip rules were looked for.
type looked struct {
	at     edge.Place
	mark   diff.Member
	ahead  diff.Ahead
	unread []edge.RulesetID // that are executed there
	skips  []edge.RuleID    // all skip rules of the entry point of the deployments
}

func lookedAt(at edge.Place, ahead diff.Ahead) looked {
	l := looked{at: at, mark: marks[edge.Place{Scope: edge.Scope{Level: at.Scope.Level}, Phase: at.Phase}], ahead: ahead}
	for _, rule := range ahead.Value.Rules {
		if rule.Action != edge.ActionExecute || !rule.IsEnabled() || rule.ActionParameters == nil {
			continue
		}
		id := rule.ActionParameters.ID
		if executed, read := ahead.Executed[id]; (!read || executed.Err != nil) && !slices.Contains(l.unread, id) {
			l.unread = append(l.unread, id)
		}
	}
	return l
}

// look notes where skip rules were looked for that may act on deployments of a zone, and whether
// there may be one.
func (p *planner) look(account desired.Account, zone desired.Zone, entryPoint edge.Ruleset) {
	if p.places == nil {
		p.places = make([]looked, 0, 1+min(len(p.in.Live.Ahead), 2*len(diff.PhasesAhead))) // of one zone and its account
	}
	p.places = append(p.places[:0], lookedAt(zone.Scope.At(edge.PhaseFirewallManaged), diff.Ahead{}))
	for i := range entryPoint.Rules {
		if rule := &entryPoint.Rules[i]; rule.Action == edge.ActionSkip {
			p.places[0].skips = append(p.places[0].skips, rule.ID)
		}
	}
	p.skipping = len(p.places[0].skips) > 0
	if len(p.in.Live.Ahead) == 0 {
		return
	}
	scopes := []edge.Scope{zone.Scope, edge.AccountScope(account.ID)}
	for _, scope := range slices.Compact(scopes) {
		for _, phase := range diff.PhasesAhead {
			ahead, read := p.in.Live.Ahead[scope.At(phase)]
			if read && (ahead.Err == nil || errors.Is(ahead.Err, edge.ErrEntryPointNotFound)) {
				p.places = append(p.places, lookedAt(scope.At(phase), ahead))
				p.skipping = p.skipping || len(ahead.Value.Rules) > 0
			}
		}
	}
}

// lookedAt is a place among those that were looked at; one of which nothing is known else.
func (p *planner) lookedAt(at edge.Place) looked {
	for _, l := range p.places {
		if l.at == at {
			return l
		}
	}
	return looked{at: at}
}

// stateOf is what is known of a skip rule that nothing accepts, by what was remembered.
func (l looked) stateOf(rule edge.Rule, before []diff.Member) diff.BypassState {
	if l.mark == "" || !slices.Contains(before, l.mark) {
		return diff.BypassFound
	}
	known := recall(before, string(l.mark)+" "+string(rule.ID)+" ")
	switch {
	case slices.Contains(known, bypass.Hash(rule)):
		return diff.BypassFound
	case len(known) > 0:
		return diff.BypassChanged
	case slices.Contains(before, l.remembering(string(l.rulesetOf(rule.ID)), unreadRuleset)):
		return diff.BypassFound
	}
	if l.returned(rule, before) {
		return diff.BypassChanged
	}
	return diff.BypassNew
}

// returned reports whether a skip rule of the entry point is one that was there, under another
// id: whoever writes the whole entry point gives a rule without a ref a new one.
func (l looked) returned(rule edge.Rule, before []diff.Member) bool {
	hash := bypass.Hash(rule)
	return slices.ContainsFunc(before, func(m diff.Member) bool { return l.isOf(m, hash) })
}

// isOf reports whether a member remembers that a skip rule of this content was in the entry
// point, of an id that is not there any more.
func (l looked) isOf(m diff.Member, hash string) bool {
	rest, here := strings.CutPrefix(string(m), string(l.mark)+" ")
	id, what, _ := strings.Cut(rest, " ")
	return here && len(l.skips) > 0 && what == hash && !slices.Contains(l.skips, edge.RuleID(id))
}

// rulesetOf is the ruleset that is executed in the place and has a rule; empty for one that is
// in the entry point itself.
func (l looked) rulesetOf(rule edge.RuleID) edge.RulesetID {
	for id, executed := range l.ahead.Executed {
		if slices.ContainsFunc(executed.Value.Rules, func(r edge.Rule) bool { return r.ID == rule }) {
			return id
		}
	}
	return ""
}

func (l looked) remembering(id, what string) diff.Member {
	return l.mark + diff.Member(" "+id+" "+what)
}

// withLooked is what a deployment owns, with what is to be on record of skip rules.
func (p *planner) withLooked(owned, before []diff.Member, acting []bypassed) []diff.Member {
	var room [8]diff.Member // most zones have no skip rule
	now := room[:0]
	for _, l := range p.places {
		now = l.idle(l.first(append(now, l.mark), before), acting)
	}
	for i := range acting {
		b := &acting[i]
		if l := p.lookedAt(b.where); l.mark != "" && b.settled() {
			now = append(now, l.remembering(string(b.Rule), bypass.Hash(b.rule)))
		}
	}
	for _, m := range before {
		if strings.HasPrefix(string(m), ofBypass) && p.stays(m, acting) {
			now = append(now, m)
		}
	}
	slices.Sort(now)
	now = slices.Compact(now)
	end := len(owned)
	for end > 0 && strings.HasPrefix(string(owned[end-1]), ofBypass) {
		end--
	}
	if slices.Equal(owned[end:], now) {
		return owned
	}
	return slices.Concat(owned[:end], now)
}

// first adds the rulesets that could not be read when the place was looked at first.
func (l looked) first(now, before []diff.Member) []diff.Member {
	if len(l.unread) == 0 || slices.Contains(before, l.mark) {
		return now
	}
	for _, id := range l.unread {
		now = append(now, l.remembering(string(id), unreadRuleset))
	}
	return now
}

// idle adds the skip rules of the place that have no effect.
func (l looked) idle(now []diff.Member, acting []bypassed) []diff.Member {
	for _, id := range l.skips {
		if !slices.ContainsFunc(acting, func(b bypassed) bool { return b.where == l.at && b.Rule == id }) {
			now = append(now, l.remembering(string(id), idleRule))
		}
	}
	return now
}

// settled reports whether a skip rule is put on record as it is now.
func (b *bypassed) settled() bool {
	return b.State == diff.BypassFound || b.State == diff.BypassAccepted
}

// stays reports whether something stays on record as it was: what is about a place that was not
// looked at, or about a skip rule that needs a person by now, or that could not be seen.
func (p *planner) stays(m diff.Member, acting []bypassed) bool {
	for _, l := range p.places {
		rest, is := strings.CutPrefix(string(m), string(l.mark))
		if !is || rest != "" && rest[0] != ' ' {
			continue
		}
		id, what, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
		if what == unreadRuleset {
			return slices.Contains(l.unread, edge.RulesetID(id))
		}
		for i := range acting {
			if acting[i].where == l.at && acting[i].Rule == edge.RuleID(id) {
				return !acting[i].settled()
			}
		}
		return id != "" && len(l.unread) > 0 || slices.ContainsFunc(acting, func(b bypassed) bool {
			return b.where == l.at && !b.settled() && l.isOf(m, bypass.Hash(b.rule))
		})
	}
	return true
}
