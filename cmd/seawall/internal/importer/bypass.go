package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// A skip rule keeps requests from a deployment that is declared as it is live. Import and
// absorb declare it as accepted, as it is today and by nobody yet: who reads the files sees it.

// ahead reads what may turn deployments of a zone off before they run: its custom phase, and
// that of its account, which is read once for all zones. What cannot be read is there with its
// error, which fails nothing else.
func (s *survey) ahead(ctx context.Context, account edge.AccountID, scope edge.Scope) map[edge.Place]diff.Ahead {
	own, of := scope.At(edge.PhaseFirewallCustom), edge.AccountScope(account).At(edge.PhaseFirewallCustom)
	all := map[edge.Place]diff.Ahead{}
	all[of], _ = s.aheadOf.get(account, func() (diff.Ahead, error) {
		listed, err := s.listed(ctx, account)
		if err != nil {
			return diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Err: err}}, nil //nolint:nilerr // it is what was seen of this place
		}
		return zone.AccountAhead(ctx, s.reader(account), account, listed), nil
	})
	if own != of {
		all[own] = zone.PlaceAhead(ctx, s.reader(account), own)
	}
	return all
}

// unlooked says in which places nobody could look for skip rules, and why; empty for none.
func unlooked(ahead map[edge.Place]diff.Ahead) (places []diff.NotLookedAt) {
	for at, a := range ahead {
		if err := a.Failed(); err != nil {
			places = append(places, diff.NotLookedAt{Level: at.Scope.Level, Phase: at.Phase, Zones: 1, Reason: diff.WithoutCall(err)})
		}
	}
	slices.SortFunc(places, func(a, b diff.NotLookedAt) int { return cmp.Compare(a.Level, b.Level) })
	return places
}

// lookAhead reads the places before the deployments of a zone, where it has some. It fails where
// the import does.
func (s *survey) lookAhead(ctx context.Context, r *record) error {
	r.ahead = s.ahead(ctx, r.Account, edge.ZoneScope(r.Zone))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, a := range r.ahead {
		if errors.Is(a.Err, edge.ErrUnauthenticated) {
			return a.Err
		}
	}
	r.Unlooked = unlooked(r.ahead)
	return nil
}

// accept declares that the skip rules that act on a deployment are accepted.
func (s *survey) accept(r *record, d *desired.Deployment, declarer *planner.Declarer, entryPoint edge.Ruleset, rule edge.Rule) {
	zone := edge.ZoneScope(r.Zone)
	acting := declarer.Bypasses(*d, planner.Deployed{
		Account: desired.Account{ID: r.Account}, Zone: desired.Zone{Key: r.Name, Name: r.Name, Scope: zone, Others: r.Others},
		EntryPoint: entryPoint, Execute: rule, Ahead: r.ahead, Skips: planner.Skips,
	}, time.Now())
	d.Accepted = accept(d.Accepted, acting)
	r.Bypasses = append(r.Bypasses, acting...)
}

// accept adds acceptances of the skip rules that act on a deployment to those that it declares:
// each as it is. One that it accepts as something else keeps its owner and its end.
func accept(declared []desired.Accepted, acting []diff.Bypass) []desired.Accepted {
	all := slices.Clone(declared)
	for _, b := range acting {
		as := desired.Accepted{Rule: keyOfSkip(b, acting), Owner: desired.NoOwner, Expression: b.Expression, All: b.All}
		for _, r := range b.Rules {
			as.Rules = append(as.Rules, r.ID)
		}
		i := slices.IndexFunc(all, func(a desired.Accepted) bool { return a.Rule == string(b.Rule) || b.Ref != "" && a.Rule == b.Ref })
		switch {
		case b.State == diff.BypassAccepted, b.State == diff.BypassExpired, b.State == diff.BypassElsewhere:
		case i >= 0:
			as.Rule, as.Origin, as.Owner, as.Until = all[i].Rule, all[i].Origin, all[i].Owner, all[i].Until
			all[i] = as
		default:
			all = append(all, as)
		}
	}
	slices.SortFunc(all, func(a, b desired.Accepted) int { return cmp.Compare(a.Rule, b.Rule) })
	return all
}

// keyOfSkip is by what a skip rule is accepted: by the ref that someone gave it, which stays
// where the rule is written again, if no other that acts has the same; else by its id.
func keyOfSkip(b diff.Bypass, acting []diff.Bypass) string {
	same := 0
	for _, other := range acting {
		if other.Ref == b.Ref {
			same++
		}
	}
	if b.Ref == "" || edge.ValidID(b.Ref) || same > 1 || !key().MatchString(b.Ref) {
		return string(b.Rule)
	}
	return b.Ref
}

// skipRules are those that act on the deployments of an account's zones.
type skipRules struct {
	acting   []diff.Bypass
	unlooked []diff.NotLookedAt // places in which nobody could look
}

// add adds those of a zone, by the keys that the zone and its deployments have.
func (s *skipRules) add(r record, account, zone string, rulesets map[edge.RulesetID]string) {
	for _, b := range r.Bypasses {
		b.Account, b.Zone, b.Deployment = account, zone, rulesets[edge.RulesetID(b.Deployment)]
		s.acting = append(s.acting, b)
	}
	for _, place := range r.Unlooked {
		same := func(o diff.NotLookedAt) bool {
			return o.Level == place.Level && o.Phase == place.Phase && o.Reason == place.Reason
		}
		if i := slices.IndexFunc(s.unlooked, same); i >= 0 {
			s.unlooked[i].Zones++
			continue
		}
		place.Account = account
		s.unlooked = append(s.unlooked, place)
	}
}

// about are lines of a comment about a skip rule that a deployment of a zone accepts.
func (s *skipRules) about(zone, ruleset, rule string) []string {
	return aboutSkip(slices.DeleteFunc(slices.Clone(s.acting), func(b diff.Bypass) bool { return b.Zone != zone || b.Deployment != ruleset }), rule)
}

// aboutSkip are lines of a comment about a skip rule that a deployment accepts.
func aboutSkip(acting []diff.Bypass, rule string) (lines []string) {
	i := slices.IndexFunc(acting, func(b diff.Bypass) bool { return rule == string(b.Rule) || rule == b.Ref })
	if i < 0 {
		return nil
	}
	b := acting[i]
	about := strings.ToUpper(b.Title()[:1]) + b.Title()[1:] + ", in " + b.Where()
	if rule != string(b.Rule) {
		about += ", id " + string(b.Rule)
	}
	lines = append(lines, about+".")
	switch {
	case b.Always && b.All:
		lines = append(lines, "THE DEPLOYMENT IS OFF: each request matches this skip rule.")
	case b.Always:
		lines = append(lines, "THESE RULES ARE OFF: each request matches this skip rule.")
	}
	return lines
}

// off says of each skip rule that turns a deployment or rules of it off for each request.
func (s *skipRules) off() (lines []string) {
	for _, b := range s.acting {
		if b.Always {
			line := fmt.Sprintf("%s: %s (%s) skips %s for each request", b.About(), b.Title(), b.Where(), b.Skips())
			if b.Owner == "" || !b.Owned() {
				line += ": name its owner, or remove the rule on the platform"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// notes say of one zone what its declaration does not: what is off, what is not accepted any
// more, and where nobody could look.
func (s *skipRules) notes() (lines []string) {
	fresh := skipRules{acting: slices.DeleteFunc(slices.Clone(s.acting), func(b diff.Bypass) bool { return b.State == diff.BypassAccepted && !b.NeedsPerson() })}
	lines = fresh.off()
	for _, b := range s.acting {
		if b.State == diff.BypassExpired {
			lines = append(lines, fmt.Sprintf("%s: the %s was accepted until %s, which is over; declare another until, or remove the rule on the platform", b.About(), b.Title(), b.Until))
		}
	}
	if text := diff.NotLooked(s.unlooked); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// needPerson reports whether one of them needs a person, though all are declared: an acceptance is
// over, or has no owner.
func (s *skipRules) needPerson() bool {
	return slices.ContainsFunc(s.acting, diff.Bypass.NeedsPerson)
}

// sharedAcceptances say of acceptances that differ and that other zones have, too, where they are:
// a skip rule of the account is the same in all of them.
func (a *absorber) sharedAcceptances(changes []cuefile.Change) (lines []string) {
	for _, c := range changes {
		from := c.Origin(a.zone)
		if !c.Accepts() || from.IsZero() || a.having(from) < 2 {
			continue
		}
		line := fmt.Sprintf("a skip rule that several zones accept is another now; %s", a.shared(from))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// otherRules says what rules of an entry point are that Seawall does not change; empty for none.
// declared are the refs of those that other kinds declare.
func otherRules(entryPoint edge.Ruleset, acting []diff.Bypass, declared []string) string {
	var accepted, idle, others int
	for _, rule := range entryPoint.Rules {
		_, skips, _ := rule.Skip()
		switch {
		case slices.Contains(declared, rule.Ref):
		case slices.ContainsFunc(acting, func(b diff.Bypass) bool { return b.Rule == rule.ID }):
			accepted++
		case skips:
			idle++
		case rule.Action != edge.ActionExecute || rule.ActionParameters == nil:
			others++
		}
	}
	var parts []string
	add := func(n int, one, many, what string) {
		if n > 0 {
			parts = append(parts, cli.Plural(n, one, many)+" "+what)
		}
	}
	add(accepted, "skip rule", "skip rules", "accepted below")
	add(idle, "skip rule", "skip rules", "without an effect on a deployment")
	add(others, "rule", "rules", "of another kind")
	all := accepted + idle + others
	if all <= 0 {
		return ""
	}
	return fmt.Sprintf("Its entry point has %s, which Seawall does not change: %s.", cli.Plural(all, "other rule", "other rules"), strings.Join(parts, ", "))
}
