package deployment

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// What someone else's update dropped of what an execute rule is called comes back; what
// someone has changed stays.
func TestDroppedDescriptionAndRef(t *testing.T) {
	d := difftest.Deployment(difftest.Keep)
	live, applied := proved(t, d, difftest.Execute(nil), nil, false)
	other := "renamed by hand"
	for name, test := range map[string]struct {
		change func(*edge.Rule)
		want   string
	}{
		"both dropped":         {func(r *edge.Rule) { r.Description, r.Ref = nil, "" }, "description <nil> → hand made; ref <nil> → deploy-core; "},
		"the ref is the id":    {func(r *edge.Rule) { r.Ref = string(r.ID) }, fmt.Sprintf("ref %s → deploy-core; ", difftest.Rule)},
		"an empty description": {func(r *edge.Rule) { r.Description = new("") }, "description <nil> → hand made; "},
		"another rule":         {func(r *edge.Rule) { r.ID, r.Description, r.Ref = "e0", nil, "" }, ""},
		"changed":              {func(r *edge.Rule) { r.Description, r.Ref = &other, "other" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rule := live
			test.change(&rule)
			out := Kind{}.Plan(diff.Input{State: difftest.State(d), Live: difftest.Live(rule), Applied: applied})
			got := ""
			for _, c := range out.Changes {
				if c.Direction != diff.Neutral {
					t.Errorf("it %s", c.Direction)
				}
				for _, f := range c.Fields {
					got += fmt.Sprintf("%s %v → %v; ", f.Path, f.Old, f.New)
				}
			}
			if got != test.want || len(out.Problems) > 0 {
				t.Errorf("it plans %q, want %q; %v", got, test.want, out.Problems)
			}
			after, again := proved(t, d, rule, applied, false)
			if test.want != "" && (descriptionOf(after) != "hand made" || after.Ref != "deploy-core") {
				t.Errorf("it comes to %q and %q", descriptionOf(after), after.Ref)
			}
			if name == "another rule" {
				return // it has none to lose
			}
			after.Description = nil
			out = Kind{}.Plan(diff.Input{State: difftest.State(d), Live: difftest.Live(after), Applied: again})
			if len(out.Changes) != 1 {
				t.Errorf("the next drop is not seen: %+v", out)
			}
		})
	}
}

// A rule that is created again is called as the one that was there.
func TestCreatedAgainByItsName(t *testing.T) {
	d := difftest.Deployment(difftest.Keep)
	d.Deploy = true
	live, applied := proved(t, d, difftest.Execute(nil), nil, false)
	other := edge.Rule{ID: "e0", Action: "skip", Ref: live.Ref}
	for name, test := range map[string]struct {
		rules   []edge.Rule
		applied diff.Applied
		want    string
	}{
		"deleted":                     {nil, applied, "hand made deploy-core"},
		"without a record":            {nil, nil, " "},
		"another rule took its place": {[]edge.Rule{other}, applied, "hand made "},
	} {
		out := Kind{}.Plan(diff.Input{State: difftest.State(d), Live: difftest.Live(test.rules...), Applied: test.applied})
		if len(out.Changes) != 1 || len(out.Problems) > 0 {
			t.Fatalf("%s: %+v", name, out)
		}
		body := difftest.UpdateOf(out.Changes[0]).Body
		if got := descriptionOf(body) + " " + body.Ref; got != test.want {
			t.Errorf("%s: it is called %q, want %q", name, got, test.want)
		}
	}
}
