package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/soak"
)

// These tests hold the program to the exact requests it sends, process by
// process: each run is a new one, so nothing is remembered between them but
// what the platform itself has.

const transcriptZones = 7

// TestTranscript: n zones of which k differ cost a list, the managed ruleset, n
// reads, and for each of the k a write and its proof. A second run only reads.
func TestTranscript(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, transcriptZones} {
		p := startPlatform(t, fleet(transcriptZones))
		dir := t.TempDir()
		apply := func() outcome {
			p.ClearTranscript()
			return run(t, p.env(), "apply", "--dir", dir, "--base-url", p.BaseURL)
		}
		write(t, dir, "edge.cue", declare(transcriptZones, 25))
		apply().want(t, 0)
		write(t, dir, "edge.cue", declareEach(transcriptZones, func(i int) int {
			if i <= k {
				return 26
			}
			return 25
		}))
		apply().want(t, 0)
		wantCalls(t, p.calls(), append(p.reads(), p.changes(k)...))
		apply().want(t, 0)
		wantCalls(t, p.calls(), p.reads())
		p.ClearTranscript()
		run(t, p.env(), "plan", "--dir", dir, "--base-url", p.BaseURL, "--detailed-exitcode").want(t, 0)
		wantCalls(t, p.calls(), p.reads())
	}
}

// reads are the requests by which a new process looks at all zones.
func (p *platform) reads() []string {
	calls := []string{
		"GET " + edge.AccountRulesetsPath(mem.Account),
		"GET " + edge.AccountRulesetPath(mem.Account, mem.CoreRuleset),
	}
	for i := 1; i <= transcriptZones; i++ {
		calls = append(calls, "GET "+edge.EntryPointPath(mem.FleetZone(i)))
	}
	return calls
}

// changes are the requests that write the first k zones and prove it.
func (p *platform) changes(k int) []string {
	var calls []string
	for i := 1; i <= k; i++ {
		zone := mem.FleetZone(i)
		entryPoint := p.entryPoint(zone)
		calls = append(calls,
			"PATCH "+edge.RulePath(zone, entryPoint.ID, entryPoint.Rules[0].ID),
			"GET "+edge.EntryPointPath(zone))
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
			config := fleet(transcriptZones)
			config.Quirks = []string{quirk}
			p := startPlatform(t, config)
			dir := t.TempDir()
			for _, threshold := range []int{25, 60} { // the second change is made to what the first one left
				write(t, dir, "edge.cue", tuned(threshold))
				p.ClearTranscript()
				p.converge(dir)
				for i := 1; i <= transcriptZones; i++ {
					if got := p.threshold(mem.FleetZone(i)); got != threshold {
						t.Errorf("zone %d has the threshold %d, want %d", i, got, threshold)
					}
				}
				p.wantFewWrites()
				p.ClearTranscript()
				run(t, p.env(), "apply", "--dir", dir, "--base-url", p.BaseURL).want(t, 0)
				if w := p.writes(); len(w) > 0 {
					t.Errorf("a run over what agrees writes: %v", w)
				}
			}
		})
	}
}

// tuned declares everything that a deployment can say.
func tuned(threshold int) string {
	return strings.ReplaceAll(declare(transcriptZones, threshold), "waf: core: threshold:",
		`waf: core: disable: tags: ["wordpress"], waf: core: paranoia: 2, waf: core: threshold:`)
}

// converge applies up to two times.
func (p *platform) converge(dir string) {
	p.t.Helper()
	o := run(p.t, p.env(), "apply", "--dir", dir, "--base-url", p.BaseURL)
	if o.code == 0 {
		return
	}
	p.t.Logf("the first run ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
	run(p.t, p.env(), "apply", "--dir", dir, "--base-url", p.BaseURL).want(p.t, 0)
}

// wantFewWrites: a zone is written once, and once more for each write to it that
// the platform did not answer well.
func (p *platform) wantFewWrites() {
	p.t.Helper()
	writes, failures := p.writes(), map[string]int{}
	for _, entry := range p.Transcript() {
		if strings.HasPrefix(entry.Call(), "PATCH ") && entry.Status != 200 {
			failures[strings.Split(entry.Path, "/")[2]]++
		}
	}
	for zone, n := range writes {
		if n > 1+failures[zone] {
			p.t.Errorf("zone %s was written %d times, %d of them failed", zone, n, failures[zone])
		}
	}
}

// TestTranscriptOfSweeps: what a process remembers it does not ask again. Each zone
// is written once, and the managed ruleset is kept by version; from then on a sweep
// reads the list and the zones.
func TestTranscriptOfSweeps(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(transcriptZones))
	s := newService(t, p, serviceConfig{Sync: "@every 1h", Sweep: "@every 1s"})
	s.repo.Commit("edge.cue", declare(transcriptZones, 25))
	s.start()
	s.poll("a third sweep ended", func() bool { return len(s.logged("run finished")) >= 3 })
	count := map[string]int{}
	for _, call := range p.calls() {
		count[call]++
	}
	list, managed, zones := p.reads()[0], p.reads()[1], p.reads()[2:]
	if n := count[managed]; n != 1 {
		t.Errorf("the managed ruleset was read %d times, want once", n)
	}
	for _, zone := range zones {
		if n, all := count[zone], count[list]; n < 3 || all > n+1 {
			t.Errorf("%s: read %d times, beside %d lists: want one in each sweep, and a list", zone, n, all)
		}
	}
	for _, change := range p.changes(transcriptZones) {
		if strings.HasPrefix(change, "PATCH ") && count[change] != 1 {
			t.Errorf("%s: sent %d times, want once", change, count[change])
		}
	}
}

// TestTranscriptOfCommits: a look at git sends the platform nothing, and a
// commit costs the zones it touches, and a list only where the last one is old.
func TestTranscriptOfCommits(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(transcriptZones))
	s := newService(t, p, serviceConfig{})
	s.repo.Commit("edge.cue", declare(transcriptZones, 25))
	s.start()
	s.poll("the first commit is reconciled", func() bool { return len(s.logged("run finished")) >= 1 })
	looks := len(s.logged("nothing new"))
	s.poll("looks at git found nothing", func() bool { return len(s.logged("nothing new")) >= looks+2 })
	wantCalls(t, p.calls(), append(p.reads(), p.changes(transcriptZones)...))

	p.ClearTranscript()
	runs := len(s.logged("run finished"))
	s.repo.Commit("edge.cue", declareEach(transcriptZones, func(i int) int { return 25 + 1/i })) // zone 1 alone
	s.poll("the commit is reconciled", func() bool { return len(s.logged("run finished")) > runs })
	list, zone := p.reads()[0], p.reads()[2]
	calls := slices.DeleteFunc(p.calls(), func(call string) bool { return call == list })
	wantCalls(t, calls, append([]string{zone}, p.changes(1)...))
}
