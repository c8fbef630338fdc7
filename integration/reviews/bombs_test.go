package reviews

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// Packs of pull requests that unpack to gigabytes, or that take all of the time, are
// refused by themselves: three honest pull requests beside them are reviewed, and the
// branch goes on. Each bomb is sent once, logged once, and counted.
// The time is enough for a slow machine to unpack what is refused for its size.
func TestPullRequestBombs(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitHub, 2, "@every 1s")
	bombs := []struct {
		pack  *gittest.Pack
		pause time.Duration
		says  string
	}{
		{gittest.HugeDelta(), 0, "it has an object of 3.5 GiB, over the limit of 128 MiB"},
		{gittest.ManyLarge(), 0, "the unpacked data is larger than the limit of 256 MiB"},
		{gittest.HugeDelta(), 50 * time.Millisecond, "it took longer than 15s"},
	}
	const honest = 3
	var packs []gittest.Served
	for i, b := range bombs {
		ref := r.forge.Ref(honest + 1 + i)
		packs = append(packs, gittest.Served{Ref: ref, Commit: fmt.Sprintf("%040x", i+1), Pack: b.pack.Done(), Pause: b.pause})
	}
	server := r.Repo.HTTPBeside(packs...)
	r.Configure(strings.Replace(r.text(), r.Config.Source, fmt.Sprintf("url: %q", server.URL), 1) + "forge: {timeout: \"15s\", limits: unpacked: 256Mi}\n")
	r.Repo.Commit("edge.cue", harness.Declare(2, 25))
	for number := 1; number <= honest; number++ {
		r.open(number, files("edge.cue", harness.Declare(2, 25+number)))
	}
	for i, p := range packs {
		r.forge.Open(forgetest.Pull{Number: honest + 1 + i, Author: "mallory", Fork: true, Head: p.Commit})
	}
	r.Start()
	r.PollReady()
	for number := 1; number <= honest; number++ {
		r.Poll("an honest pull request is reviewed", func() bool { return strings.Contains(r.told(number), "2 to change") })
	}
	for i, b := range bombs {
		r.Poll("a bomb is reported", func() bool { return strings.Contains(r.told(honest+1+i), b.says) })
	}
	r.Poll("the bombs are counted", func() bool { return r.Metric("seawall_pull_request_heads_refused") == float64(len(bombs)) })

	r.open(2, files("edge.cue", harness.DeclareEach(2, func(i int) int { return 25 + i/2 })))
	r.Poll("a push is reviewed beside them", func() bool { return strings.Contains(r.told(2), "1 to change") })
	r.Repo.Commit("edge.cue", harness.Declare(2, 30))
	r.Poll("the branch goes on", func() bool { return r.Platform.Threshold(mem.FleetZone(2)) == 30 })
	if n := len(r.Logged("the head of a pull request is refused; other pull requests are not affected")); n != len(bombs) {
		t.Errorf("%d warnings about %d bombs", n, len(bombs))
	}
	for _, p := range packs {
		if n := server.Sent(p.Ref); n != 1 {
			t.Errorf("the pack of %s was sent %d times", p.Ref, n)
		}
	}
	r.forge.Set(honest+1, func(p *forgetest.Pull) { p.State = "closed" })
	r.Poll("one is closed", func() bool {
		return r.Metric("seawall_pull_request_heads_refused") == float64(len(bombs)-1)
	})
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}
