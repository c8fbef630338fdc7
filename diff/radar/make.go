package radar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Input is all a report is made from.
type Input struct {
	State desired.State
	// Seen are the versions on record, in the order in which they were seen.
	Seen []rulesets.Seen
	// RulesetOf is the id of a declared managed ruleset; empty where it is not known. Nil goes
	// by what is on record.
	RulesetOf func(desired.Account, desired.RulesetRef) edge.RulesetID
	// Ruleset limits the report to that of a key, a name or an id; empty is all.
	Ruleset string
	Since   Since
}

// Since is the version that the newest one is compared with: the one that was there at a time,
// or one by its number. The zero value is the one before the newest.
type Since struct {
	Time    time.Time
	Version string
}

// Make compares the newest version of each declared managed ruleset with an earlier one.
func Make(in Input) Report {
	m := maker{in: in, seen: map[rulesetOf][]rulesets.Seen{}, blocks: map[string]*block{}}
	for _, s := range in.Seen {
		of := rulesetOf{s.Account, s.Ruleset.ID}
		m.seen[of] = append(m.seen[of], s)
	}
	m.report = Report{Version: Version, Rulesets: []Published{}, Problems: []Problem{}}
	for _, account := range in.State.Accounts {
		for _, ref := range account.Rulesets {
			m.add(account, ref)
		}
	}
	for _, b := range m.order {
		m.report.Rulesets = append(m.report.Rulesets, b.published())
	}
	slices.SortStableFunc(m.report.Rulesets, func(a, b Published) int { return cmp.Compare(rank(a.Direction), rank(b.Direction)) })
	var directions []Direction
	for _, p := range m.report.Rulesets {
		directions = append(directions, p.Direction)
	}
	m.report.Direction = together(directions)
	return m.report
}

// together is the direction of several; empty where nothing changes.
func together(directions []Direction) Direction {
	directions = slices.DeleteFunc(directions, func(d Direction) bool { return d == "" })
	if len(directions) == 0 {
		return ""
	}
	return diff.Combine(directions...)
}

// rank orders directions: what weakens comes first, and what changes nothing last.
func rank(d Direction) int {
	i := slices.Index([]Direction{diff.Weakens, diff.Strengthens, diff.Neutral, ""}, d)
	if i < 0 {
		return -1 // nobody knows what it does
	}
	return i
}

type rulesetOf struct {
	account edge.AccountID
	ruleset edge.RulesetID
}

type maker struct {
	in     Input
	seen   map[rulesetOf][]rulesets.Seen
	blocks map[string]*block
	order  []*block
	report Report
}

// add adds a declared managed ruleset of an account, or why nothing can be said of it.
func (m *maker) add(account desired.Account, ref desired.RulesetRef) {
	deployments := deploymentsOf(account, ref.Key)
	if len(deployments) == 0 {
		return
	}
	id, err := m.idOf(account, ref)
	versions := m.seen[rulesetOf{account.ID, id}]
	names := []string{ref.Key, ref.Name, string(ref.ID), string(id)}
	if len(versions) > 0 {
		names = append(names, versions[len(versions)-1].Ruleset.Name)
	}
	for _, name := range names {
		if name != "" && !slices.Contains(m.report.known, name) {
			m.report.known = append(m.report.known, name)
		}
	}
	if m.in.Ruleset != "" && !slices.Contains(names, m.in.Ruleset) {
		return
	}
	problem := func(reason, hint string) {
		m.report.Problems = append(m.report.Problems, Problem{account.Key, ref.Key, reason, hint, ref.Origin})
	}
	if err == nil && len(versions) == 0 {
		err = errNoVersion
	}
	if err != nil {
		problem(err.Error(), hintOf(err))
		return
	}
	from, early, err := m.in.Since.in(versions)
	if err != nil {
		problem(err.Error(), hintOf(err))
		return
	}
	m.block(versions, from, early).add(account, deployments)
}

// errNoVersion: nothing is known of a managed ruleset.
var errNoVersion error = &rulesets.Error{Message: "no version of it is on record", Hint: "seawall run and seawall apply record the versions that they read"}

func hintOf(err error) string {
	if known := (*rulesets.Error)(nil); errors.As(err, &known) {
		return known.Hint
	}
	return ""
}

// idOf is the id of a declared managed ruleset.
func (m *maker) idOf(account desired.Account, ref desired.RulesetRef) (edge.RulesetID, error) {
	if m.in.RulesetOf != nil {
		return m.in.RulesetOf(account, ref), nil
	}
	var listed []edge.Ruleset
	for of, versions := range m.seen {
		if of.account == account.ID {
			listed = append(listed, versions[len(versions)-1].Ruleset)
		}
	}
	if len(listed) == 0 {
		return "", errNoVersion
	}
	found, err := rulesets.Find(ref, listed)
	if err != nil {
		return "", fmt.Errorf("by the versions on record, %w", err)
	}
	return found.ID, nil
}

// in is the place of the version to compare with among those that were seen; early says that
// an older one was asked for than is known.
func (s Since) in(versions []rulesets.Seen) (from int, early bool, err error) {
	newest := len(versions) - 1
	switch {
	case s.Version != "":
		for i, v := range slices.Backward(versions) {
			if v.Ruleset.Version == s.Version {
				return i, false, nil
			}
		}
		return 0, false, &rulesets.Error{
			Message: fmt.Sprintf("version %s is not on record", s.Version),
			Hint:    fmt.Sprintf("the versions on record are %s, seen since %s", numbersOf(versions), words.Instant(versions[0].At)),
		}
	case s.Time.IsZero():
		return max(newest-1, 0), false, nil
	}
	for i, v := range slices.Backward(versions) {
		if !v.At.After(s.Time) {
			return i, false, nil
		}
	}
	return 0, true, nil
}

// numbersOf says which versions there are: the first and the last of many.
func numbersOf(versions []rulesets.Seen) string {
	first, last := versions[0].Ruleset.Version, versions[len(versions)-1].Ruleset.Version
	switch len(versions) {
	case 1:
		return first
	case 2:
		return first + " and " + last
	}
	return fmt.Sprintf("%s to %s (%d of them)", first, last, len(versions))
}

// declaredIn is a deployment with its zone.
type declaredIn struct {
	zone       *desired.Zone
	deployment *desired.Deployment
}

// deploymentsOf are the deployments of an account that run one of its managed rulesets.
func deploymentsOf(account desired.Account, ruleset string) (all []declaredIn) {
	for i := range account.Zones {
		z := &account.Zones[i]
		for j := range z.Deployments {
			if z.Deployments[j].Ruleset == ruleset {
				all = append(all, declaredIn{z, &z.Deployments[j]})
			}
		}
	}
	return all
}
