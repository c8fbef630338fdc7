package controller

import (
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// root is the account's entry point; the zero value where it has none.
func (f *fixture) root() edge.Ruleset {
	for _, a := range f.Platform.State().Accounts {
		for _, r := range a.Rulesets {
			if r.Kind == edge.KindRoot {
				return r
			}
		}
	}
	return edge.Ruleset{}
}

// accountLevel declares deployments of the core ruleset by the account itself.
func accountLevel(keys ...string) desired.Zone {
	z := desired.Zone{Key: desired.AccountKey("prod"), Scope: edge.AccountScope(mem.Account)}
	for _, key := range keys {
		d := deployedAs(true, true)
		d.Key, d.Ref, d.Expression = key, key, &desired.Declared[string]{Value: `cf.zone.plan eq "ENT"`}
		z.Deployments = append(z.Deployments, d)
	}
	return z
}

// wantRoot is which refs the account's rules have, and of which writes the last ones were.
func (f *fixture) wantRoot(refs []string, verbs ...string) {
	f.t.Helper()
	var got, sent []string
	for _, r := range f.root().Rules {
		got = append(got, r.Ref)
	}
	for _, c := range f.calls.take() {
		if c.who == edge.AccountScope(mem.Account).String() && c.verb != "read" {
			sent = append(sent, c.verb)
		}
	}
	if slices.Sort(got); !slices.Equal(got, refs) || !slices.Equal(sent, verbs) {
		f.t.Errorf("there are %q after %q, want %q after %q", got, sent, refs, verbs)
	}
}

// What an account deploys itself is one more work item: proved, kept over a restart,
// healed, and removed one by one.
func TestAccountLevel(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newDeployFixture(t, 2)
		f.repo.Push("c1", accountLevel("eu", "us"), other)
		f.start()
		f.wantRoot([]string{"eu", "us"}, "create", "add")
		id := edge.AccountScope(mem.Account)
		if record := f.record(); len(record.Applied) != 3 || record.Proofs[id].Commit != "c1" {
			t.Errorf("on record: %v, %v", record.Applied, record.Proofs)
		}
		f.restart()
		f.wantRoot([]string{"eu", "us"})

		root := f.root()
		root.Rules[1].ActionParameters.Overrides = nil
		must.Do(t, f.Platform.SetRuleset(mem.Account, root))
		f.pass(interval + soon)
		f.wantRoot([]string{"eu", "us"}, "write")
		if o := f.root().Rules[1].ActionParameters.Overrides; o == nil || o.Categories[0].Category != "xss" {
			t.Errorf("the drift stays: %+v", o)
		}

		f.push("c2", accountLevel("us"), other)
		f.wantRoot([]string{"us"}, "delete")
		record := f.record()
		if _, ok := record.Prunable[diff.ID{Scope: id, Ruleset: mem.CoreRuleset, Ref: "us"}]; len(record.Applied) != 2 || !ok {
			t.Errorf("on record: %v, %v", record.Applied, record.Prunable)
		}
		f.push("c3", accountLevel(), other)
		f.wantRoot(nil, "delete")
	})
}
