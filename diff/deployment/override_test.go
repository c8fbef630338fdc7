package deployment

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
)

// With no more than the reference, only the members that it shows are declared.
func TestDocumentedMembers(t *testing.T) {
	ref := desired.RuleRef{Ref: "ref-0"}
	for _, test := range []struct {
		declares difftest.Intent
		want     string
	}{
		{difftest.Tag("sqli", difftest.Override("enabled: true")), ""},
		{difftest.RuleOf(ref, difftest.Override("enabled: true, action: log")), ""},
		{difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("score: 25, action: log")), ""},
		{difftest.All(difftest.Override("enabled: true, action: log")), "15 all: the platform's reference has no enabled here; 15 all: the platform's reference has no action here; "},
		{difftest.Tag("sqli", difftest.Override("enabled: true, action: log")), `15 tags: the tag "sqli": the platform's reference has no action here; `},
		{difftest.RuleOf(ref, difftest.Override("sensitivity: low")), `15 rules: ref "ref-0": the platform's reference has no sensitivity here; `},
	} {
		scene := difftest.Scene{State: difftest.State(difftest.Deployment(test.declares)), Live: difftest.Live(difftest.Execute(nil))}
		if p := planScene(scene); len(p.Problems) > 0 || len(p.Changes) != 1 {
			t.Errorf("with more than the reference: %+v", p)
		}
		account := scene.Live.Accounts[difftest.Account]
		account.Documented = true
		scene.Live.Accounts[difftest.Account] = account
		got := ""
		for _, problem := range planScene(scene).Problems {
			got += fmt.Sprintf("%d %s; ", problem.Origin.Line, problem.Reason)
			if problem.State != diff.Blocked || problem.Hint != `if your platform supports it, set platform.profile: "extended"` {
				t.Errorf("got %+v", problem)
			}
		}
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
