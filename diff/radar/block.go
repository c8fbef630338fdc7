package radar

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
)

// block is a managed ruleset in the accounts that had the same versions of it.
type block struct {
	out         Published
	publication *planner.Publication
	touches     map[string]*touched // by what a deployment means
	groups      map[string]*Group
}

// touched is what the newest version means for deployments that mean the same.
type touched struct {
	rulesets.Touch
	group *Group // nil: it means nothing for them
}

// block is that of versions from one on.
func (m *maker) block(versions []rulesets.Seen, from int, early bool) *block {
	old, newest := versions[from].Ruleset, versions[len(versions)-1].Ruleset
	key := string(newest.ID) + words.Digest([]any{old, newest, len(versions) - from, early})
	b := m.blocks[key]
	if b == nil {
		b = &block{
			publication: planner.NewPublication(old, newest), touches: map[string]*touched{}, groups: map[string]*Group{},
			out: Published{
				ID: newest.ID, Name: newest.Name, KeptSince: versions[0].At, Early: early,
				Rules: rulesOf(rulesets.Compare(old, newest)), Groups: []Group{},
			},
		}
		for _, v := range versions[from:] {
			b.out.Versions = append(b.out.Versions, Seen{v.Ruleset.Version, v.At})
		}
		m.blocks[key] = b
		m.order = append(m.order, b)
	}
	return b
}

// add adds the deployments of an account.
func (b *block) add(account desired.Account, deployments []declaredIn) {
	if !slices.ContainsFunc(b.out.Accounts, func(a Account) bool { return a.Key == account.Key }) {
		b.out.Accounts = append(b.out.Accounts, Account{account.Key, desired.Known(account.ID)})
	}
	for _, in := range deployments {
		t := b.touch(*in.deployment)
		if t.group == nil {
			b.unchanged(t.Touch)
			continue
		}
		t.group.Zones = append(t.group.Zones, Zone{
			account.Key, in.zone.Key, desired.KnownScope(in.zone.Scope), in.deployment.Name(), in.deployment.Origin,
		})
	}
}

// unchanged counts a deployment for which the newest version means nothing.
func (b *block) unchanged(t rulesets.Touch) {
	b.out.Unchanged++
	switch {
	case t.Pinned != "":
		b.out.Pinned++
	case t.Off:
		b.out.Off++
	}
}

// touch is what the newest version means for a deployment. It is worked out once for those
// that mean the same, and those for which it means the same are one group.
func (b *block) touch(d desired.Deployment) *touched {
	meaning := d.Meaning()
	if known := b.touches[meaning]; known != nil {
		return known
	}
	t := &touched{Touch: b.publication.Touches(d)}
	b.touches[meaning] = t
	if t.IsZero() {
		return t
	}
	g := groupOf(t.Touch)
	key := sameness(g)
	if b.groups[key] == nil {
		b.groups[key] = &g
	}
	t.group = b.groups[key]
	return t
}

// sameness is equal for groups that are shown as one: wherever it is declared.
func sameness(g Group) string {
	g.Mistakes = slices.Clone(g.Mistakes)
	for i := range g.Mistakes {
		g.Mistakes[i].Origin = desired.Origin{}
	}
	key, err := json.Marshal(g)
	if err != nil {
		panic("radar: encoding a group: " + err.Error()) // it is plain data
	}
	return string(key)
}

// published is the block, its groups in order: those that weaken first, blocked ones before
// others, large ones before small ones.
func (b *block) published() Published {
	p := b.out
	var directions []Direction
	keys := make([]string, 0, len(b.groups))
	for key := range b.groups {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		p.Groups = append(p.Groups, *b.groups[key])
	}
	slices.SortStableFunc(p.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), first(a.Blocked, b.Blocked), cmp.Compare(len(b.Zones), len(a.Zones)))
	})
	for _, g := range p.Groups {
		directions = append(directions, g.Direction)
	}
	p.Direction = together(directions)
	return p
}

// rank is that of its direction; what weakens until Seawall has written comes directly after what
// weakens.
func (g Group) rank() int {
	if g.weakensMeanwhile() {
		return rank(diff.Weakens) + 1
	}
	return 2 * rank(g.Direction)
}

// first orders what is before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
