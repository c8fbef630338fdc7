package deployment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// An execute rule runs the latest version of a managed ruleset, or one that it names: it
// is pinned. What a declaration means is resolved against the version that it is to run.

// versionMember is its path.
const versionMember diff.Member = "version"

// pin is the version that an execute rule is to run.
type pin struct {
	want     string
	managed  *managed       // of that version, or the latest where unread
	unread   bool           // nothing is known of that version: no rule of it, and no default
	before   *managed       // of the version that it runs now; nil where that could not be read
	leftover *diff.Leftover // a version that nothing declares; nil for none
}

// pinned settles which version a deployment is to run, or reports why that cannot be
// planned. found is the latest.
func (p *planner) pinned(at place, live edge.Rule, found *managed) (pin, bool) {
	s := p.versionOf(at, live, found)
	if p.documented(at) && at.d.Version == nil {
		return s.unknown(found), true
	}
	if p.documented(at) && s.want != rulesets.Latest {
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Version.Origin,
			Reason: fmt.Sprintf("version: the platform's reference has no call that reads version %s of managed ruleset %q", s.want, found.Name),
			Hint:   `declare version: "latest", or set platform.profile: "extended" if your platform has versions`,
		})
		return s, false
	}
	var err error
	s.managed, err = p.version(at, found, s.want)
	switch {
	case err == nil:
		return s, true
	case at.d.Version == nil && errors.Is(err, edge.ErrNotOffered):
		return s.unknown(found), true // as with the reference alone
	case errors.Is(err, edge.ErrNotOffered):
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Version.Origin, Hint: `declare version: "latest"`,
			Reason: fmt.Sprintf("version: the platform has no call that reads version %s of managed ruleset %q", s.want, found.Name),
		})
	case at.d.Version != nil && errors.Is(err, edge.ErrNotFound):
		p.problem(at, diff.Problem{
			State: diff.Blocked, Unfit: true, Origin: at.d.Version.Origin,
			Reason: fmt.Sprintf("version: managed ruleset %q has no version %s", found.Name, s.want),
			Hint:   fmt.Sprintf("the latest is %s; the platform keeps some older ones", found.Version),
		})
	default:
		p.problem(at, unread(fmt.Errorf("reading version %s of managed ruleset %q: %w", s.want, found.Name, err), hintForbiddenAccount, at.d.Origin))
	}
	return s, false
}

// versionOf settles which version a deployment is to run, and reads the one that it runs.
func (p *planner) versionOf(at place, live edge.Rule, found *managed) pin {
	runs := rulesets.VersionOf(live)
	s := pin{want: runs}
	switch {
	case at.d.Version != nil:
		s.want = at.d.Version.Value
	case runs != rulesets.Latest && p.unpins(at, found):
		s.want = rulesets.Latest
	case runs != rulesets.Latest:
		s.leftover = &diff.Leftover{Path: versionMember, Value: runs, Note: "the latest is " + found.Version}
	}
	if before, err := p.version(at, found, runs); err == nil {
		s.before = before
	}
	return s
}

// unpins reports whether a version that is not declared goes.
func (p *planner) unpins(at place, found *managed) bool {
	if on := decisionOnVersion(at.d); on != "" {
		return on == desired.Remove
	}
	before := p.in.Applied[diff.ID{Scope: at.zone.Scope, Ruleset: found.ID, Ref: at.d.Ref}]
	return !p.in.Reports && foundIn(before).isNew(versionMember)
}

// unknown is the pin where the latest version is the best that is known of the one that
// is to run.
func (s pin) unknown(found *managed) pin {
	s.managed, s.unread = found, !found.runs(s.want)
	return s
}

// runs reports whether a managed ruleset, as it was read without a version, is a version.
func (m *managed) runs(version string) bool {
	return version == rulesets.Latest || version == m.Version
}

// decisionOnVersion is what becomes of a version that is not declared; empty for undecided.
func decisionOnVersion(d desired.Deployment) desired.Unmanaged {
	for _, one := range d.Decisions {
		if one.Version {
			return one.Unmanaged
		}
	}
	if d.Unmanaged != nil {
		return d.Unmanaged.Value
	}
	return ""
}

func (p *planner) documented(at place) bool { return p.in.Live.Accounts[at.account.ID].Documented }

// version is a managed ruleset as it was at a version.
func (p *planner) version(at place, found *managed, version string) (*managed, error) {
	if found.runs(version) {
		return found, nil
	}
	read, ok := p.in.Live.Accounts[at.account.ID].Versions[diff.RulesetVersion{Ruleset: found.ID, Version: version}]
	switch {
	case !ok:
		return nil, errors.New("it was not read")
	case read.Err != nil:
		return nil, read.Err
	}
	m := managedOf(p.in.Indexes, read.Value)
	m.Name = found.Name
	return m, nil
}

// versionDirection compares what the rules of two versions do under the same overrides.
func versionDirection(before, after *managed, o *edge.Overrides) diff.Direction {
	if before == nil {
		return diff.Weakens // nobody knows what ran
	}
	return combine(pairVersions(before, after).compare(o, o))
}

// ruleEffect is a rule that does something else in another version.
type ruleEffect struct {
	rule      edge.Rule // of the newer version that has it
	last      bool      // in one of the versions
	was, is   *effect   // nil: the version has no such rule
	direction diff.Direction
}

// versions are two versions of a managed ruleset, with the place in the newer one of each rule
// of the older one; see [rulesets.Pair].
type versions struct {
	before, after *managed
	to            []int
}

func pairVersions(before, after *managed) versions {
	return versions{before, after, rulesets.Pair(before.Ruleset, after.Ruleset)}
}

// compare finds the rules that do something else in the newer version, each under the overrides
// that there are with it; first those of the older version in its order. A rule that is on and
// that the newer version lacks protects less. What is off in both is left out.
func (v versions) compare(were, are *edge.Overrides) (all []ruleEffect) {
	before, after := v.before, v.after
	was, is := before.effects(were), after.effects(are)
	seen := make([]bool, len(after.Rules))
	for i, j := range v.to {
		last := i == len(before.Rules)-1
		switch {
		case j < 0 && was[i].enabled:
			all = append(all, ruleEffect{before.Rules[i], last, &was[i], nil, diff.Weakens})
		case j >= 0:
			seen[j] = true
			if was[i] != is[j] && (was[i].enabled || is[j].enabled) {
				all = append(all, ruleEffect{after.Rules[j], last || j == len(after.Rules)-1, &was[i], &is[j], ruleDirection(was[i], is[j])})
			}
		}
	}
	for j, rule := range after.Rules {
		if !seen[j] && is[j].enabled {
			all = append(all, ruleEffect{rule, j == len(after.Rules)-1, nil, &is[j], diff.Strengthens})
		}
	}
	return all
}

// combine is the direction of several rules together.
func combine(all []ruleEffect) diff.Direction {
	directions := make([]diff.Direction, len(all))
	for i, e := range all {
		directions[i] = e.direction
	}
	return diff.Combine(directions...)
}

// ruleDirection compares all that one rule does.
func ruleDirection(before, after effect) diff.Direction {
	directions := make([]diff.Direction, len(overrideMembers))
	for i, member := range overrideMembers {
		directions[i] = effectDirection(member, before, after)
	}
	return diff.Combine(directions...)
}

// nameOf is the ref of a rule where that is a word, or else its id.
func nameOf(rule edge.Rule) string {
	if rule.Ref == "" || edge.ValidID(rule.Ref) {
		return string(rule.ID)
	}
	return rule.Ref
}

// mostRules is how many rules a note names.
const mostRules = 3

// note says what another version changes; o are the overrides that are live.
func (s pin) note(found *managed, o *edge.Overrides) string {
	text := "the latest is " + found.Version
	if s.before == nil {
		return text
	}
	var gone, less, added []string
	for _, e := range pairVersions(s.before, s.managed).compare(o, o) {
		switch name := nameOf(e.rule); {
		case e.is == nil:
			gone = append(gone, name)
		case e.was == nil:
			added = append(added, name)
		case e.direction == diff.Weakens:
			less = append(less, name)
		}
	}
	for _, part := range []struct {
		what  string
		rules []string
	}{{"gone", gone}, {"does less", less}, {"new", added}} {
		if len(part.rules) == 0 {
			continue
		}
		text += "; " + part.what + ": " + words.First(part.rules[:min(len(part.rules), mostRules)], len(part.rules))
	}
	return text
}

// hedge says no more of rules than is known of the version that runs.
func (s pin) hedge(fields []diff.Field) {
	for i := range fields {
		if s.unread && strings.HasPrefix(fields[i].Note, noteGone) {
			fields[i].Note = noteUnknown + strings.TrimPrefix(fields[i].Note, noteGone)
		}
	}
}
