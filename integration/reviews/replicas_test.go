package reviews

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/pgtest"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// Two daemons over one PostgreSQL: a webhook at either has the one look that leads, a pull request
// has one comment by whichever plans it, and when one ends the other goes on.
func TestReplicas(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Pooler(t)("postgres")
	a := newReviewed(t, forges.Gitea, 3, "@every 1h")
	b := &reviewed{harness.NewService(t, a.Platform, harness.ServiceConfig{}), a.forge}
	for i, r := range []*reviewed{a, b} {
		text := strings.Replace(a.Config.Text(a.Service), a.Dir+"/state", r.Dir+"/state", 1) + fmt.Sprintf(`
forge: {kind: "gitea", url: %q, project: "acme/edge", token: file: %q}
hooks: edge: {kind: "generic", secret: file: %q}
state: postgres: {url: %q, replica: "r%d"}
`, a.forge.URL, a.Dir+"/forge-token", a.Dir+"/hook-secret", url, i)
		r.Configure(text)
	}
	first := a.Repo.Commit("edge.cue", harness.Declare(3, 25))
	a.Start()
	b.Start()
	a.PollReady()
	b.PollReady()
	a.Poll("the first commit is live", func() bool { return a.Platform.Threshold(mem.FleetZone(3)) == 25 })
	a.Poll("the first commit is settled", func() bool { return a.marked(first) == "pending success" })

	a.forge.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "stricter"})
	for i, r := range []*reviewed{a, b} {
		head := a.head("edge.cue", harness.Declare(3, 26+i))
		if status := r.hook(hookSecret); status != 202 {
			t.Fatalf("the webhook is answered %d", status)
		}
		r.Poll("the head is marked", func() bool { return a.marked(head) == "success" })
		if text := a.comment(); !strings.Contains(text, "3 to change") {
			t.Errorf("the comment is\n%s", text)
		}
	}
	a.Signal(syscall.SIGTERM)
	a.WantEnd(0)
	head := a.head("edge.cue", harness.Declare(3, 30))
	if status := b.hook(hookSecret); status != 202 {
		t.Fatalf("the webhook is answered %d", status)
	}
	b.Poll("the head is marked", func() bool { return a.marked(head) == "success" })
	if text := a.comment(); !strings.Contains(text, "3 to change") {
		t.Errorf("the comment is\n%s", text)
	}
	b.Signal(syscall.SIGTERM)
	b.WantEnd(0)
}
