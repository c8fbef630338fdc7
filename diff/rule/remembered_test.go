package rule

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A memory changes no plan: neither where nothing has changed, nor after a write or another
// commit.
func TestAMemoryChangesNoPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		if rapid.Bool().Draw(t, "at rest") {
			s.remove, s.declared = false, Custom.Declare(edge.Ruleset{Rules: s.live})
		}
		memory := (*diff.Memory)(nil).Renew()
		for range 4 {
			s.memory = nil
			want := s.plan()
			s.memory = memory
			for range 2 {
				if d := cmp.Diff(want, s.plan(), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
					t.Fatalf("%s\nlive %+v", d, s.live)
				}
			}
			switch { // nobody writes to what was planned
			case len(s.live) > 0 && rapid.Bool().Draw(t, "by hand"):
				s.live = slices.Clone(s.live)
				s.live[0].Expression = "false"
			case len(want.Changes) > 0:
				s.live = slices.Clone(s.live)
				s.apply(t, rapid.SampledFrom(want.Changes).Draw(t, "one"))
			case len(s.declared) > 0:
				s.declared = slices.Clone(s.declared)
				s.declared[0] = drawDeclared(t, s.declared[0].Key, []string{s.declared[0].Key, "a"})
			}
		}
	})
}

// A sweep over a zone at rest understands no rule anew.
func TestAZoneAtRestIsRemembered(t *testing.T) {
	s := &state{memory: (*diff.Memory)(nil).Renew()}
	for i := range 100 {
		ref := fmt.Sprintf("r%02d", i)
		s.live = append(s.live, edge.Rule{ID: edge.RuleID(ref), Ref: ref, Action: "block", Expression: "true"})
		s.declared = append(s.declared, declaring(t, ref, `{"action":"block","expression":"true","enabled":true}`))
	}
	in := s.input()
	if part := Custom.Plan(in); len(part.Settled) != 100 {
		t.Fatalf("%+v", part)
	}
	if n := testing.AllocsPerRun(5, func() { Custom.Plan(in) }); n > 60 {
		t.Errorf("a plan of 100 rules at rest allocates %v times", n)
	}
}
