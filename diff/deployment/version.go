package deployment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
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
			State: diff.Blocked, Origin: at.d.Version.Origin,
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
	before := p.in.Applied[diff.DeploymentID{Scope: at.zone.Scope, Ruleset: found.ID, Ref: at.d.Ref}]
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

// versionDirection compares what the rules of two versions do under the same overrides. A
// rule that is on and that the other version lacks protects less.
func versionDirection(before, after *managed, o *edge.Overrides) diff.Direction {
	if before == nil {
		return diff.Weakens // nobody knows what ran
	}
	c := compareVersions(before, after, o)
	return diff.Combine(append(c.directions, onEach(diff.Weakens, c.gone), onEach(diff.Strengthens, c.added))...)
}

// versionChanges are the rules that another version changes, by their names.
type versionChanges struct {
	directions        []diff.Direction // of rules that both versions have
	gone, less, added []string         // rules that are on and are not in the other version, and those that protect less
}

func compareVersions(before, after *managed, o *edge.Overrides) (c versionChanges) {
	if before == after {
		return c
	}
	was, is := before.effects(o), after.effects(o)
	seen := make([]bool, len(after.Rules))
	for i, rule := range before.Rules {
		j, there := after.counterpart(rule)
		switch {
		case there:
			seen[j] = true
			d := ruleDirection(was[i], is[j])
			if c.directions = append(c.directions, d); d == diff.Weakens {
				c.less = append(c.less, nameOf(rule))
			}
		case was[i].enabled:
			c.gone = append(c.gone, nameOf(rule))
		}
	}
	for j, rule := range after.Rules {
		if !seen[j] && is[j].enabled {
			c.added = append(c.added, nameOf(rule))
		}
	}
	return c
}

// ruleDirection compares all that one rule does.
func ruleDirection(before, after effect) diff.Direction {
	directions := make([]diff.Direction, len(overrideMembers))
	for i, member := range overrideMembers {
		directions[i] = effectDirection(member, before, after)
	}
	return diff.Combine(directions...)
}

func onEach(d diff.Direction, rules []string) diff.Direction {
	if len(rules) == 0 {
		return diff.Neutral
	}
	return d
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
	c := compareVersions(s.before, s.managed, o)
	for _, part := range []struct {
		what  string
		rules []string
	}{{"gone", c.gone}, {"does less", c.less}, {"new", c.added}} {
		if len(part.rules) == 0 {
			continue
		}
		text += "; " + part.what + ": " + strings.Join(part.rules[:min(len(part.rules), mostRules)], ", ")
		if more := len(part.rules) - mostRules; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
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

// counterpart finds a rule of another version: by its id, or by a ref that one rule alone
// has.
func (m *managed) counterpart(rule edge.Rule) (int, bool) {
	if i, ok := m.byID[rule.ID]; ok {
		return i, true
	}
	if ids := m.byRef[rule.Ref]; len(ids) == 1 {
		return m.byID[ids[0]], true
	}
	return 0, false
}
