package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestPlanShowsWhatLeaves: each departure is a line with its digest, in every form, and one
// that cannot be shown in full is not among those that a review approves.
func TestPlanShowsWhatLeaves(t *testing.T) {
	gold := []diff.Left{{Setting: "guards.gold", Labels: map[string]string{"tier": "gold"}}}
	shown := diff.Leaving{Account: "prod", Zone: "shop.example", Scope: edge.ZoneScope("1"), Left: gold}.Sealed("")
	account := diff.Leaving{Account: "prod2", Left: []diff.Left{{Setting: "accounts.prod.mode", Account: "a1"}}}.Sealed("a1")
	hidden := diff.Leaving{Account: "prod", Zone: strings.Repeat("long.", codeLimit) + "example", Scope: edge.ZoneScope("2"), Left: gold}.Sealed("")
	plan := diff.Plan{
		Version: diff.PlanVersion, Digest: "sha256:" + strings.Repeat("0", 64), Changes: []diff.Change{}, Problems: []diff.Problem{},
		Deprecations: []deprecation.Notice{}, Leaving: []diff.Leaving{shown, hidden, account},
	}
	if err := validate(compileSchema(t), plan); err != nil {
		t.Errorf("its JSON is not as the schema says: %v", err)
	}
	for name, write := range map[string]func(*bytes.Buffer, diff.Plan) error{
		"text":     func(b *bytes.Buffer, p diff.Plan) error { return Text(b, p, false) },
		"Markdown": func(b *bytes.Buffer, p diff.Plan) error { return Markdown(b, p) },
	} {
		var b bytes.Buffer
		must.Do(t, write(&b, plan))
		for _, want := range []string{"shop.example (1)", "leaves guards.gold (tier=gold)", "account prod2", "accounts.prod.mode (account a1)", shown.Digest, account.Digest} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
	if got := LeavingInFull(plan); len(got) != 2 || got[0] != shown.Digest || got[1] != account.Digest {
		t.Errorf("shown in full are %v", got)
	}
	for range 2 * leavingShown {
		plan.Leaving = append(plan.Leaving, shown)
	}
	if got := LeavingInFull(plan); len(got) >= leavingShown {
		t.Errorf("%d departures are said to be shown", len(got))
	}
}
