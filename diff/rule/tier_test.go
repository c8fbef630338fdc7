package rule

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// planned plans a zone with a plan.
func (s *state) planned(k Kind, plan string) diff.Part {
	in := s.input()
	for i := range s.declared {
		s.declared[i].Kind = k.name
	}
	in.Live.EntryPoints = map[edge.Place]diff.Observed[edge.Ruleset]{difftest.Zone.At(k.phase): {Value: edge.Ruleset{ID: "e", Version: "1", Phase: k.phase, Rules: s.live}}}
	in.Live.Plans = map[edge.Scope]string{difftest.Zone: plan}
	return k.Plan(in)
}

// A rule that the plan of the zone does not take is blocked, with what the plan takes. What the
// zone has already is no question of its plan, nor is anything where the plan is not known.
func TestPlansOfZones(t *testing.T) {
	const (
		block   = `{"action":"block","expression":"ssl","enabled":true}`
		limit   = `{"action":"block","expression":"http.request.uri.path eq \"/a\"","enabled":true,"limit":{"characteristics":["cf.colo.id","ip.src"],"period":%d,"requests":5,"timeout":%d}}`
		blocked = `{"action":"block","expression":"ssl","ref":"%s"}`
	)
	log := `{"action":"log","expression":"http.host matches \"a\"","enabled":true}`
	others := func(n int, more ...string) (rules []string) {
		for i := range n {
			rules = append(rules, fmt.Sprintf(blocked, fmt.Sprint("theirs", i)))
		}
		return append(rules, more...)
	}
	for _, test := range []struct {
		name     string
		kind     Kind
		plan     string
		declared []string // keys are a, b, …
		live     []string
		blocked  map[string]string
		changes  int
	}{
		{"room", Custom, "free", []string{block}, others(4), nil, 1},
		{"no room", Custom, "free", []string{block}, others(5), map[string]string{"a": `the plan "free" takes 5 custom rules; 6 would be there`}, 0},
		{"no room for two", Custom, "free", []string{block, block}, others(4), map[string]string{
			"a": `the plan "free" takes 5 custom rules; 6 would be there`, "b": `the plan "free" takes 5 custom rules; 6 would be there`,
		}, 0},
		{"more than the plan has is live", Custom, "free", []string{block}, others(6, fmt.Sprintf(blocked, "a")), nil, 0},
		{"one of them changes", Custom, "free", []string{block}, others(6, `{"action":"log","expression":"ssl","ref":"a"}`), nil, 1},
		{"one rate limit", RateLimit, "free", []string{fmt.Sprintf(limit, 10, 10)}, nil, nil, 1},
		{"two rate limits", RateLimit, "free", []string{fmt.Sprintf(limit, 10, 10)}, []string{`{"action":"block","expression":"ssl","ref":"theirs"}`}, map[string]string{
			"a": `the plan "free" takes 1 rate limit; 2 would be there`,
		}, 0},
		{"seconds", RateLimit, "free", []string{fmt.Sprintf(limit, 60, 600)}, nil, map[string]string{
			"a": `the plan "free" takes a period of 10 seconds, not 60; it takes a timeout of 10 seconds, not 600`,
		}, 0},
		{"seconds of a higher plan", RateLimit, "business", []string{fmt.Sprintf(limit, 60, 600)}, nil, nil, 1},
		{"an action and an expression", Custom, "pro", []string{log}, nil, map[string]string{
			"a": `the plan "pro" takes the actions block, challenge, execute, js_challenge, managed_challenge and skip, not log; it does not take the expression: "matches" needs the plan business`,
		}, 0},
		{"live before the plan was another", Custom, "pro", []string{log}, []string{`{"action":"log","expression":"http.host matches \"a\"","ref":"a"}`}, nil, 0},
		{"another beside it", Custom, "pro", []string{log, block}, nil, map[string]string{
			"a": `the plan "pro" takes the actions block, challenge, execute, js_challenge, managed_challenge and skip, not log; it does not take the expression: "matches" needs the plan business`,
		}, 1},
		{"a plan with all", Custom, "enterprise", []string{log}, others(6), nil, 1},
		{"no plan", Custom, "", []string{log}, others(6), nil, 1},
		{"a plan that is not known", Custom, "partner", []string{log}, others(6), nil, 1},
	} {
		s := state{live: living(t, test.live...)}
		for i, text := range test.declared {
			s.declared = append(s.declared, declaring(t, string(rune('a'+i)), text))
		}
		part := s.planned(test.kind, test.plan)
		got := map[string]string{}
		for _, p := range part.Problems {
			if p.State != diff.Blocked || !p.Lasts || p.Hint == "" || p.Zone != "shop.example" || p.Kind != test.kind.name || got[p.Deployment] != "" {
				t.Errorf("%s: %+v", test.name, p)
			}
			got[p.Deployment] = p.Reason
		}
		if test.blocked == nil {
			test.blocked = map[string]string{}
		}
		if d := cmp.Diff(test.blocked, got); d != "" || len(part.Changes) != test.changes {
			t.Errorf("%s: %d changes, %s", test.name, len(part.Changes), d)
		}
	}
}

// What goes makes room for what comes.
func TestPlansOfZonesCountWhatIsLeft(t *testing.T) {
	rules := []string{`{"action":"block","expression":"ssl","ref":"old"}`}
	for i := range 4 {
		rules = append(rules, fmt.Sprintf(`{"action":"block","expression":"ssl","ref":"theirs%d"}`, i))
	}
	s := state{live: living(t, rules...), declared: []desired.Other{declaring(t, "new", `{"action":"block","expression":"ssl","enabled":true}`)}}
	s.prunable = removing("old", s.live[0].ID)
	part := s.planned(Custom, "free")
	if len(part.Problems) > 0 || len(part.Changes) != 2 || !slices.ContainsFunc(part.Changes, func(c diff.Change) bool { return c.Deployment == "old" }) {
		t.Errorf("got %+v %+v", part.Changes, part.Problems)
	}
}
