package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/soak"
)

// These tests hold the program to the exact requests it sends, process by
// process: each run is a new one, so nothing is remembered between them but
// what the platform itself has.

const transcriptZones = 5 // as many as guards.default lets a commit weaken

// TestTranscript: n zones of which k differ cost a list, the managed ruleset, n
// reads, and for each of the k a write and its proof. A second run only reads.
func TestTranscript(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, transcriptZones} {
		p := harness.StartPlatform(t, harness.Fleet(transcriptZones))
		dir := t.TempDir()
		apply := func() harness.Outcome {
			p.ClearTranscript()
			return harness.Run(t, p.Env(), "apply", "--dir", dir, "--base-url", p.BaseURL)
		}
		harness.Write(t, dir, "edge.cue", harness.Declare(transcriptZones, 25))
		apply().Want(t, 0)
		harness.Write(t, dir, "edge.cue", harness.DeclareEach(transcriptZones, func(i int) int {
			if i <= k {
				return 26
			}
			return 25
		}))
		apply().Want(t, 0)
		wantCalls(t, p.Calls(), append(reads(p), changes(p, k)...))
		apply().Want(t, 0)
		wantCalls(t, p.Calls(), reads(p))
		p.ClearTranscript()
		harness.Run(t, p.Env(), "plan", "--dir", dir, "--base-url", p.BaseURL, "--detailed-exitcode").Want(t, 0)
		wantCalls(t, p.Calls(), reads(p))
	}
}

// reads are the requests by which a new process looks at all zones.
func reads(p *harness.Platform) []string {
	calls := []string{
		"GET " + edge.RulesetsPath(edge.AccountScope(mem.Account)),
		"GET " + edge.RulesetPath(edge.AccountScope(mem.Account), mem.CoreRuleset),
	}
	for i := 1; i <= transcriptZones; i++ {
		calls = append(calls, "GET "+edge.EntryPointPath(mem.FleetZone(i), edge.PhaseFirewallManaged))
	}
	return calls
}

// changes are the requests that write the first k zones and prove it.
func changes(p *harness.Platform, k int) []string {
	var calls []string
	for i := 1; i <= k; i++ {
		zone := mem.FleetZone(i)
		entryPoint := p.EntryPoint(zone)
		calls = append(calls,
			"PATCH "+edge.RulePath(zone, entryPoint.ID, entryPoint.Rules[0].ID),
			"GET "+edge.EntryPointPath(zone, edge.PhaseFirewallManaged))
	}
	return calls
}

// wantCalls compares what was sent with what was to be: zones are looked at side
// by side, so their order is open, while that of each zone's own requests is not.
func wantCalls(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(byPlace(want), byPlace(got)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// byPlace sorts calls by what they are about, and keeps the order of those that
// are about the same zone or account.
func byPlace(calls []string) []string {
	place := func(call string) string {
		parts := strings.Split(call, "/")
		return strings.Join(parts[1:3], "/")
	}
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted, func(a, b string) int { return strings.Compare(place(a), place(b)) })
	return sorted
}

// TestTranscriptUnderQuirks: however the server misbehaves, two runs at most
// make it agree, no write is sent more often than its fault explains, and the
// run after that writes nothing.
func TestTranscriptUnderQuirks(t *testing.T) {
	t.Parallel()
	quirks := []string{"patch=replace", "error-after=3", "html=9"}
	if soak.On { // cmd/seawall, edge/client and edge/edgetest have them, too
		quirks = append(quirks, "patch=merge", "reorder", "cut-after=3", "defaults", "messages-null", "omit-empty-rules", "ruleset-bump=1", "throttle=7", "error-before=3", "truncate=5")
	}
	for _, quirk := range quirks {
		t.Run(quirk, func(t *testing.T) {
			t.Parallel()
			config := harness.Fleet(transcriptZones)
			config.Quirks = []string{quirk}
			p := harness.StartPlatform(t, config)
			dir := t.TempDir()
			for _, threshold := range []int{25, 60} { // the second change is made to what the first one left
				harness.Write(t, dir, "edge.cue", tuned(threshold))
				p.ClearTranscript()
				converge(p, dir)
				for i := 1; i <= transcriptZones; i++ {
					if got := p.Threshold(mem.FleetZone(i)); got != threshold {
						t.Errorf("zone %d has the threshold %d, want %d", i, got, threshold)
					}
				}
				wantFewWrites(p)
				p.ClearTranscript()
				harness.Run(t, p.Env(), "apply", "--dir", dir, "--base-url", p.BaseURL).Want(t, 0)
				if w := p.Writes(); len(w) > 0 {
					t.Errorf("a run over what agrees writes: %v", w)
				}
			}
		})
	}
}

// tuned declares everything that a deployment can say.
func tuned(threshold int) string {
	return strings.ReplaceAll(harness.Declare(transcriptZones, threshold), "waf: core: threshold:",
		`waf: core: disable: tags: ["wordpress"], waf: core: paranoia: 2, waf: core: threshold:`)
}

// converge applies up to two times.
func converge(p *harness.Platform, dir string) {
	p.T.Helper()
	o := harness.Run(p.T, p.Env(), "apply", "--dir", dir, "--base-url", p.BaseURL)
	if o.Code == 0 {
		return
	}
	p.T.Logf("the first run ended with %d:\n%s%s", o.Code, o.Stdout, o.Stderr)
	harness.Run(p.T, p.Env(), "apply", "--dir", dir, "--base-url", p.BaseURL).Want(p.T, 0)
}

// wantFewWrites: a zone is written once, and once more for each write to it that
// the platform did not answer well.
func wantFewWrites(p *harness.Platform) {
	p.T.Helper()
	writes, failures := p.Writes(), map[string]int{}
	for _, entry := range p.Transcript() {
		if strings.HasPrefix(entry.Call(), "PATCH ") && entry.Status != 200 {
			failures[strings.Split(entry.Path, "/")[2]]++
		}
	}
	for zone, n := range writes {
		if n > 1+failures[zone] {
			p.T.Errorf("zone %s was written %d times, %d of them failed", zone, n, failures[zone])
		}
	}
}

// TestTranscriptOfSweeps: what a process remembers it does not ask again. Each zone
// is written once, and the managed ruleset is kept by version; from then on a sweep
// reads the list and the zones.
func TestTranscriptOfSweeps(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(transcriptZones))
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1h", Sweep: "@every 1s"})
	s.Repo.Commit("edge.cue", harness.Declare(transcriptZones, 25))
	begun := time.Now()
	s.Start()
	s.Poll("a third sweep ended", func() bool { return s.Runs() >= 3 })
	count := map[string]int{}
	for _, call := range p.Calls() {
		count[call]++
	}
	intervals := int(time.Since(begun) / time.Second) // a sweep takes several on a machine that is busy
	list, managed, zones := reads(p)[0], reads(p)[1], reads(p)[2:]
	if n := count[managed]; n != 1 {
		t.Errorf("the managed ruleset was read %d times, want once", n)
	}
	for _, zone := range zones {
		if n, all := count[zone], count[list]; n < 3 || all > 1+max(n, intervals) {
			t.Errorf("%s: read %d times, beside %d lists: want one in each sweep, and a list in each interval", zone, n, all)
		}
	}
	for _, change := range changes(p, transcriptZones) {
		if strings.HasPrefix(change, "PATCH ") && count[change] != 1 {
			t.Errorf("%s: sent %d times, want once", change, count[change])
		}
	}
}

// TestTranscriptOfCommits: a look at git sends the platform nothing, and a
// commit costs the zones it touches, and a list only where the last one is old.
func TestTranscriptOfCommits(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(transcriptZones))
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1s"})
	s.Repo.Commit("edge.cue", harness.Declare(transcriptZones, 25))
	s.Start()
	s.Poll("the first commit is reconciled", func() bool { return s.Runs() >= 1 })
	looks := len(s.Logged("nothing new"))
	s.Poll("looks at git found nothing", func() bool { return len(s.Logged("nothing new")) >= looks+2 })
	wantCalls(t, p.Calls(), append(reads(p), changes(p, transcriptZones)...))

	p.ClearTranscript()
	runs := s.Runs()
	s.Repo.Commit("edge.cue", harness.DeclareEach(transcriptZones, func(i int) int { return 25 + 1/i })) // zone 1 alone
	s.Poll("the commit is reconciled", func() bool { return s.Runs() > runs })
	list, zone := reads(p)[0], reads(p)[2]
	calls := slices.DeleteFunc(p.Calls(), func(call string) bool { return call == list })
	wantCalls(t, calls, append([]string{zone}, changes(p, 1)...))
}
