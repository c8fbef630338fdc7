package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

// trick is a text that is a script where it is taken for HTML.
const trick = `<img src=x onerror="document.title='taken'">`

// withLogin has a proxy say who people are. ada is the author of all commits.
const withLogin = `
web: {
	login: proxy: from: ["127.0.0.1/32"]
	roles: {
		operators: {role: "operator", users: ["proxy:grace", "proxy:ada"]}
		readers: {role: "viewer", groups: ["readers"]}
	}
}
guards: calm: approve: "weakening"
`

// TestOperatorAtWork runs the program: an operator holds a zone, sees what somebody changes by
// hand appear, releases the zone, and approves a change, without loading a page again.
func TestOperatorAtWork(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s := harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 1s"})
	s.Configure(s.Config.Text(s) + withLogin)
	declared := func(second int) string {
		return harness.DeclareEach(3, func(i int) int { return map[bool]int{true: second, false: 30}[i == 2] }) +
			fmt.Sprintf("account: prod: zone: %q: labels: note: %q\n", "zone-00001.example", trick)
	}
	s.Repo.Commit("edge.cue", declared(30))
	s.Start()
	first, second := mem.FleetZone(1), mem.FleetZone(2)
	s.Poll("the fleet is as declared", func() bool { return p.Threshold(first) == 30 && p.Threshold(second) == 30 })

	b := open(t, "http://"+s.Address(), look{headers: map[string]string{"X-Forwarded-User": "grace"}})
	b.visit(zonePath(first))
	b.until(reads("in sync"))
	if !strings.Contains(b.text(), trick) || strings.Contains(eval[string](b, "document.title"), "taken") {
		t.Errorf("a label is not shown as it is: %s", b.text())
	}
	b.accessible("a zone with actions")

	b.fill(`form[action="/actions/hold"] input[name=reason]`, "a sale "+trick)
	b.submit("hold")
	b.until(reads("a sale <img"))
	p.Weaken(first)
	b.until(reads("waiting") + " && " + reads("drift"))
	b.submit("release")
	b.until(reads("in sync"))
	s.Poll("the drift is healed", func() bool { return p.Threshold(first) == 30 })

	b.visit(zonePath(second))
	s.Repo.Commit("edge.cue", declared(40))
	b.until(reads("refused") + ` && document.querySelector('form[action="/actions/approve"]') !== null`)
	author := open(t, b.origin, look{headers: map[string]string{"X-Forwarded-User": "ada"}})
	author.visit(zonePath(second))
	author.submit("approve")
	author.until(reads("approve exactly this"))
	author.submit("approve")
	author.until(reads("the author of a commit cannot approve its changes"))

	b.submit("approve")
	b.until(reads("approve exactly this"))
	b.accessible("a change to approve")
	b.submit("approve")
	s.Poll("the approved change is live", func() bool { return p.Threshold(second) == 40 })
	b.until(reads("in sync"))
	// Much has changed since, and an answer stays that cannot be asked for again.
	if !eval[bool](author, reads("the author of a commit cannot approve its changes")) {
		t.Errorf("the answer is gone; instead: %s", author.text())
	}
	author.expect("403 (Forbidden)")
	if code, _ := s.Get("/zones"); code == 200 {
		t.Error("someone without a name may read")
	}
}

func zonePath(scope edge.Scope) string { return "/zones/" + scope.Text() }

// fill types a text into a field.
func (b *tab) fill(field, text string) {
	b.Helper()
	b.act(field, chromedp.SendKeys(chromedp.CSS(field), text))
}

// submit sends the form of an action, as a click on its button does.
func (b *tab) submit(action string) {
	b.Helper()
	b.click(fmt.Sprintf(`form[action="/actions/%s"] button`, action))
}
