package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// declaredToken is a token that rotates, and an integration that uses what is deprecated.
var declaredToken = fmt.Sprintf(`
token: ci: {policies: [{effect: "allow", resources: %q: "*", permission_groups: [{id: %q}]}], sink: {name: "ci", key: "ci"}, rotate: {every: "720h", overlap: "48h"}}
integration: exporter: {owner: "finance", calls: [{method: "GET", path: "/user/billing/history"}]}
`, edge.ResourceAllZones, mem.RulesGroup)

// paged is a service with tokens.
func paged(t *testing.T, zones int) *harness.Service {
	t.Helper()
	p := harness.StartPlatform(t, harness.Fleet(zones))
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1s", Sweep: "@every 2s"}) // without a webhook
	s.Write("tokens", p.TokensToken.Reveal()+"\n")
	must.Do(t, os.Mkdir(filepath.Join(s.Dir, "secrets"), 0o700))
	s.Configure(s.Config.Text(s) + fmt.Sprintf("credentials: tokens: file: %q\nsinks: ci: file: root: %q\n", filepath.Join(s.Dir, "tokens"), filepath.Join(s.Dir, "secrets")))
	command(s, "token", "init").Want(t, 0)
	return s
}

func command(s *harness.Service, args ...string) harness.Outcome {
	s.T.Helper()
	return harness.Run(s.T, nil, append(args, "--config", s.ConfigFile())...)
}

// get is a resource of the API.
func get[T any](s *harness.Service, path string) (value T) {
	s.T.Helper()
	code, body := s.Get("/api/v1" + path)
	if code != http.StatusOK {
		s.T.Fatalf("%s: %d %s", path, code, body)
	}
	must.Do(s.T, json.Unmarshal([]byte(body), &value))
	return value
}

// TestPagesTellTheFacts: after commits, drift, a hold and a token each resource has what
// happened, its page has the same, and both have it after a reload and a restart.
func TestPagesTellTheFacts(t *testing.T) {
	t.Parallel()
	s := paged(t, 3)
	first := s.Repo.Commit("edge.cue", harness.Declare(3, 25)+declaredToken)
	s.Start()
	live := func(threshold int) func() bool {
		return func() bool { return s.Platform.At(1, 3, threshold) == 3 }
	}
	s.Poll("the first commit is live", live(25))
	second := s.Repo.Commit("edge.cue", harness.Declare(3, 30)+declaredToken)
	s.Poll("the second commit is live", live(30))
	s.Poll("all is in sync", func() bool { return get[inspect.Fleet](s, "/zones").Outcomes[inspect.InSync] == 3 })
	s.Platform.Weaken(mem.FleetZone(2))
	s.Poll("drift is healed", live(30))
	publish(s, "xss-handler")
	s.Poll("a new version is on the radar", func() bool { return len(get[inspect.RadarList](s, "/radar").Versions) == 1 })
	command(s, "hold", "zone", "zone-00003.example", "--for", "1h", "--reason", "an incident").Want(t, 0)
	held := s.Repo.Commit("edge.cue", strings.ReplaceAll(harness.Declare(3, 31), `"block"`, `"blok"`)+declaredToken)
	s.Poll("a commit is held", func() bool {
		c := get[inspect.CommitList](s, "/commits")
		return c.Held != nil && c.Held.Commit == held
	})
	s.Poll("the token is made", func() bool {
		list := get[inspect.TokenList](s, "/tokens")
		return len(list.Tokens) == 1 && list.Tokens[0].Outcome == inspect.InSync
	})
	s.Poll("the hold is heeded", func() bool { return len(get[inspect.Status](s, "/status").Holds) == 1 })

	wantFacts(s, first, second)
	wantPages(s, second)
	s.Signal(syscall.SIGHUP)
	s.Poll("it is reloaded", func() bool {
		return len(s.Logged("the configuration is reloaded")) == 1 && len(s.Logged("serving")) == 2
	})
	s.WantAddress()
	s.PollReady()
	wantFacts(s, first, second)
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	s.Start()
	s.PollReady()
	wantFacts(s, first, second)
}

// publish has the vendor publish the core ruleset without a rule.
func publish(s *harness.Service, ref string) {
	s.T.Helper()
	rulesets := s.Platform.Platform.State().Accounts[0].Rulesets
	core := rulesets[slices.IndexFunc(rulesets, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
	core.Version = ""
	core.Rules = slices.DeleteFunc(slices.Clone(core.Rules), func(r edge.Rule) bool { return r.Ref == ref })
	must.Do(s.T, s.Platform.Platform.SetRuleset(mem.Account, core))
}

// wantFacts holds the API to what happened.
func wantFacts(s *harness.Service, first, second string) {
	t := s.T
	t.Helper()
	fleet := get[inspect.Fleet](s, "/zones?text=00002")
	if fleet.Declared != 3 || fleet.Matches != 1 || len(fleet.Zones) != 1 || fleet.Zones[0].Scope != mem.FleetZone(2) || fleet.Commit != second {
		t.Errorf("zones: %+v", fleet)
	}
	zone := get[inspect.ZonePage](s, "/zones/"+mem.FleetZone(2).Text())
	if zone.Zone.Zone != "zone-00002.example" || len(zone.History) < 3 {
		t.Errorf("a zone: %+v", zone)
	}
	commits := get[inspect.CommitList](s, "/commits")
	var told []string
	for _, c := range commits.Commits {
		told = append(told, fmt.Sprint(c.Commit, " ", c.Writes, " ", c.Zones, " ", c.Failed))
	}
	// For the first, the token was created and its secret delivered.
	if want := []string{second + " 3 3 0", first + " 5 3 0"}; !slices.Equal(told, want) || commits.InForce != second || !commits.Kept {
		t.Errorf("commits %q, want %q: %+v", told, want, commits)
	}
	one := get[page.CommitPage](s, "/commits/"+second[:10])
	if one.Commit != second || !one.InForce || len(one.History.Entries) < 4 {
		t.Errorf("a commit: %+v", one)
	}
	wantHistory(s)
	tokens := get[inspect.TokenList](s, "/tokens")
	if row := tokens.Tokens[0]; row.Token != "ci" || !row.Declared || row.ID == "" || row.Ends.IsZero() || !row.Rotates.Before(row.Ends) || row.Rotates.IsZero() || tokens.Unknown != "" {
		t.Errorf("tokens: %+v", tokens)
	}
	calendar := get[inspect.DeprecationList](s, "/deprecations")
	if d := calendar.Deprecations; len(d) < 10 || len(d[0].Concerns) == 0 || !strings.Contains(d[0].Concerns[0], "exporter") || d[0].Standing == "" || calendar.DataAsOf == "" {
		t.Errorf("deprecations: %+v", d[:min(2, len(d))])
	}
	if pulls := get[inspect.PullRequestList](s, "/pulls"); pulls.Reviewed || len(pulls.PullRequests) != 0 {
		t.Errorf("pull requests without a forge: %+v", pulls)
	}
	if status := get[inspect.Status](s, "/status"); len(status.Holds) != 1 || status.Commit.InForce != second {
		t.Errorf("status: %+v", status)
	}
	if list := get[inspect.RadarList](s, "/radar?since=1h"); len(list.Versions) != 1 || list.Versions[0].Zones == nil || list.Versions[0].Zones.Weakens != 3 || list.Versions[0].Rules.Removed != 1 {
		t.Errorf("the radar: %+v", list)
	} else if one := get[inspect.RadarPage](s, fmt.Sprintf("/radar/%d", list.Versions[0].Number)); len(one.Groups) != 1 || len(one.Groups[0].Zones) != 3 || one.Groups[0].Zones[0].Origin.File != "edge.cue" {
		t.Errorf("a new version: %+v", one)
	}
	get[page.OutageList](s, "/outages")
	get[page.CredentialList](s, "/credentials")
}

// wantHistory holds the pages of the history to the history.
func wantHistory(s *harness.Service) {
	s.T.Helper()
	all := get[inspect.EntryList](s, "/history")
	entries := all.Entries
	for i := range entries {
		if want := entries[0].Number - int64(i); entries[i].Kind != reconcile.EntryWrite && entries[i].Number > want {
			s.T.Errorf("entry %d comes after entry %d", entries[i].Number, want)
		}
	}
	drift, hold := false, false
	for _, e := range entries {
		drift = drift || e.Trigger == reconcile.TriggerSweep && e.Result != nil && e.Result.Outcome == reconcile.Converged
		hold = hold || e.Action == reconcile.ActionHold && e.Reason == "an incident"
	}
	if !drift || !hold || !all.Kept {
		s.T.Errorf("the history lacks what happened: drift %v, hold %v", drift, hold)
	}
	for _, e := range get[inspect.EntryList](s, "/history?zone="+mem.FleetZone(2).Text()).Entries {
		if e.Subject.Scope != mem.FleetZone(2) {
			s.T.Errorf("of another zone: %+v", e)
		}
	}
	if of := get[inspect.EntryList](s, "/history?token=ci").Entries; len(of) < 2 || of[0].Subject.Token != "ci" {
		s.T.Errorf("of a token: %+v", of)
	}
	middle := entries[len(entries)/2].Number
	after := get[inspect.EntryList](s, fmt.Sprintf("/history?after=%d", middle)).Entries
	if len(after) == 0 || after[0].Number >= middle {
		s.T.Errorf("after entry %d: %+v", middle, after)
	}
}

// wantPages holds the pages to what happened, and to what there is not.
func wantPages(s *harness.Service, commit string) {
	s.T.Helper()
	for path, want := range map[string]string{
		"/": "commits", "/zones": "zone-00003.example", "/zones/" + mem.FleetZone(3).Text(): "an incident", "/grid.svg": "<svg", "/commits": commit[:7], "/commits/" + commit: commit[:7],
		"/history": "zone-00001.example", "/tokens": "ci", "/radar": "weakens protection in 3 zones", "/deprecations": "exporter", "/pulls": "forge", "/outages": "utage", "/credentials": "redential",
	} {
		if code, body := s.Get(path); code != http.StatusOK || !strings.Contains(body, want) {
			s.T.Errorf("%s: %d, want %q in\n%.2000s", path, code, want, body)
		}
	}
	for path, want := range map[string]int{
		"/zones/0123456789abcdef0123456789abcdef": 404, "/commits/0123456789": 404, "/pulls/7": 404, "/elsewhere": 404, "/history?after=x": 400, "/commits?after=-1": 400,
		"/zones?after=x": 400, "/history?commit=zz": 400,
	} {
		code, _ := s.Get(path)
		if api, body := s.Get("/api/v1" + path); code != want || api != want || !strings.Contains(body, `"status":`) {
			s.T.Errorf("%s: %d and %d, want %d: %s", path, code, api, want, body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/status"} {
		if code, body := s.Get(path); code != http.StatusOK || strings.Contains(body, "<html") {
			s.T.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	if code, _ := s.Get("/hook/git"); code != http.StatusNotFound {
		s.T.Errorf("/hook/git without hooks: %d", code)
	}
}
