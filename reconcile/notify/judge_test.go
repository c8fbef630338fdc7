package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// whole is the status of a daemon that has read everything for a while.
func whole(now time.Time) inspect.Status {
	return inspect.Status{
		At: now, Started: now.Add(-time.Hour), Commit: inspect.Commit{Wanted: "4f2a", InForce: "4f2a"}, Source: inspect.Source{LastSuccess: now},
		Zones:  inspect.Zones{Declared: 10_000, Observed: now, Outcomes: map[inspect.Outcome]int{}},
		Tokens: inspect.Tokens{LookedAt: now},
	}
}

// says are the causes and states of messages.
func says(messages []Message) string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Cause + " " + string(m.State)
	}
	return strings.Join(all, ", ")
}

// TestAnOutageOfAllZonesIsOneMessage: what 10,000 zones come to in an outage of the platform
// is the outage's, at its begin and at its end.
func TestAnOutageOfAllZonesIsOneMessage(t *testing.T) {
	j := newJudge("ops", Info, nil)
	var got []Message
	s := whole(at)
	look := func(d time.Duration, groups ...inspect.Group) {
		for end := s.At.Add(d); s.At.Before(end); s.At = s.At.Add(every) {
			got = append(got, j.next(s, Causes(s, groups))...)
		}
	}
	look(time.Minute)
	s.Outages = []reconcile.Outage{{Subject: reconcile.OutagePlatform, Cause: "no answer from the platform", Since: s.At, Zones: 10_000}}
	look(time.Hour, inspect.Group{Outcome: inspect.Forbidden, By: "read", Count: 9000, Since: s.At})
	s.Outages = nil
	look(30*time.Second, inspect.Group{Outcome: inspect.Forbidden, By: "read", Count: 300, Since: s.At}) // the last of them are read again
	look(time.Hour)
	if want := "outage/platform/ begins, outage/platform/ ends"; says(got) != want {
		t.Errorf("got %s, want %s", says(got), want)
	}
	if !strings.Contains(got[0].Text, "10000 zones") || got[0].Severity != Critical || !strings.HasPrefix(got[1].Text, "It lasted 1h") {
		t.Errorf("%+v", got)
	}
}

// TestReadAgainIsNotOver: after an outage of a large fleet it takes a while until each zone is
// read again. What one that was not needs a person for is not over; a zone that cannot be read
// for long holds up no end.
func TestReadAgainIsNotOver(t *testing.T) {
	j := newJudge("ops", Warning, nil)
	blocked := inspect.Group{Outcome: inspect.Blocked, By: "plan", Count: 1, Since: at}
	var got []Message
	s := whole(at)
	look := func(d time.Duration, unknown int, groups ...inspect.Group) {
		s.Zones.Outcomes[inspect.Unknown] = unknown
		for end := s.At.Add(d); s.At.Before(end); s.At = s.At.Add(every) {
			got = append(got, j.next(s, Causes(s, groups))...)
		}
	}
	look(2*time.Minute, 0, blocked)
	look(40*time.Minute, 5000)
	look(time.Minute, 100, blocked)
	if says(got) != "zones/blocked/plan begins" {
		t.Errorf("got %s", says(got))
	}
	look(2*time.Hour, 1)
	if says(got) != "zones/blocked/plan begins, zones/blocked/plan ends" {
		t.Errorf("got %s", says(got))
	}
}

// TestOneCredentialOfSeveral: an outage of one does not silence the zones of the others, and one
// that is over within seconds is no message.
func TestOneCredentialOfSeveral(t *testing.T) {
	j := newJudge("ops", Info, nil)
	s := whole(at)
	s.Work.Credentials = []inspect.Credential{{Name: "a"}, {Name: "b"}}
	s.Outages = []reconcile.Outage{{Subject: reconcile.OutageCredential, Name: "accounts.a", Cause: "401", Since: at}}
	groups := []inspect.Group{{Outcome: inspect.Refused, By: "limit", Count: 1, Since: at}}
	var got []Message
	for range 20 {
		got = append(got, j.next(s, Causes(s, groups))...)
		s.At = s.At.Add(every)
	}
	s.Outages = append(s.Outages, reconcile.Outage{Subject: reconcile.OutageGit, Cause: "no route", Since: s.At})
	for range 5 {
		got = append(got, j.next(s, Causes(s, groups))...)
		s.At = s.At.Add(every)
	}
	s.Outages = s.Outages[:1]
	for range 15 {
		got = append(got, j.next(s, Causes(s, groups))...)
		s.At = s.At.Add(every)
	}
	if want := "outage/credential/accounts.a begins, zones/refused/limit begins"; says(got) != want {
		t.Errorf("got %s, want %s", says(got), want)
	}
}

// TestSteady: zones that need a person for less than a minute are not reported, neither is
// their end before they have not for a minute.
func TestSteady(t *testing.T) {
	j := newJudge("ops", Warning, nil)
	refused := inspect.Group{Outcome: inspect.Refused, By: "limit", Count: 3, First: []string{"a", "b", "c"}, Reason: "the limit", Since: at}
	var got []Message
	for i, present := range []bool{true, false, true, true, true, false, true, false, false} {
		s := whole(at.Add(time.Duration(i) * 50 * time.Second))
		var groups []inspect.Group
		if present {
			groups = append(groups, refused)
		}
		got = append(got, j.next(s, Causes(s, groups))...)
	}
	if want := "zones/refused/limit begins"; says(got) != want {
		t.Errorf("got %s, want %s", says(got), want)
	}
	s := whole(at.Add(10 * time.Minute))
	if end := j.next(s, Causes(s, nil)); says(end) != "zones/refused/limit ends" {
		t.Errorf("got %s", says(end))
	}
}

// TestNotReadIsNotInOrder: what an earlier process has reported does not end before this one
// has seen that it is over.
func TestNotReadIsNotInOrder(t *testing.T) {
	early := func(change func(*inspect.Status)) inspect.Status {
		s := whole(at)
		s.Started = at.Add(-time.Minute)
		change(&s)
		return s
	}
	settled := func(change func(*inspect.Status)) inspect.Status {
		s := whole(at)
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		open     Open
		not, yet inspect.Status
	}{
		"git":      {Open{Cause: "outage/git/", About: AboutOutage}, early(func(s *inspect.Status) { s.Source.LastSuccess = time.Time{} }), early(func(*inspect.Status) {})},
		"platform": {Open{Cause: "outage/platform/", About: AboutOutage}, early(func(*inspect.Status) {}), settled(func(*inspect.Status) {})},
		"commit":   {Open{Cause: "commit/4f2b", About: AboutCommit}, early(func(s *inspect.Status) { s.Source.LastSuccess = time.Time{} }), early(func(*inspect.Status) {})},
		"token":    {Open{Cause: "token/ci/quarantined", About: AboutToken}, settled(func(s *inspect.Status) { s.Tokens.LookedAt = time.Time{} }), settled(func(*inspect.Status) {})},
		"zones": {
			Open{Cause: "zones/refused/limit", About: AboutZones},
			settled(func(s *inspect.Status) { s.Zones.Outcomes[inspect.NotRead] = 1 }), settled(func(*inspect.Status) {}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge("ops", Info, []Open{c.open})
			for range 3 {
				c.not.At = c.not.At.Add(time.Second)
				if got := j.next(c.not, Causes(c.not, nil)); len(got) > 0 {
					t.Fatalf("ended before it was seen to be over: %s", says(got))
				}
			}
			var got []Message
			for range 50 {
				got = append(got, j.next(c.yet, Causes(c.yet, nil))...)
				c.yet.At = c.yet.At.Add(every)
			}
			if want := c.open.Cause + " ends"; says(got) != want {
				t.Errorf("got %s, want %s", says(got), want)
			}
		})
	}
}

// TestCauses: each is about one thing, and its key has neither a text nor a time.
func TestCauses(t *testing.T) {
	s := whole(at)
	s.Commit = inspect.Commit{Wanted: "4f2a00000000000", InForce: "1d9f", Held: &inspect.Held{Commit: "4f2a00000000000", Reason: "it removes 30 of 40 zones", Author: "Ada", Since: at, Fix: "approve it"}}
	s.Rollout = &inspect.Rollout{Waves: 3, Open: 1, Halted: "2 zones have failed"}
	s.Outages = []reconcile.Outage{
		{Subject: reconcile.OutageZone, Name: "a.example, b.example", Cause: "no answer", Since: at, Zones: 2},
		{Subject: reconcile.OutageSink, Name: "vault", Cause: "403", Since: at},
		{Subject: reconcile.OutageRoute, Name: "ops", Cause: "404", Since: at},
	}
	s.Tokens.Findings = []inspect.Token{{Token: "ci", Outcome: inspect.Quarantined, Reason: "no answer", Fix: "seawall token resolve"}, {Token: "in-time", Outcome: inspect.Pending}}
	s.Tokens.Expiring = []diff.Expiry{{Token: "old", At: at.Add(24 * time.Hour)}, {Token: "later", At: at.Add(240 * time.Hour)}}
	s.Replicas = &inspect.Replicas{Forward: &inspect.Forward{At: s.At.Add(-59 * time.Minute), Seconds: 90}}
	var got []string
	for _, c := range Causes(s, []inspect.Group{{Outcome: inspect.Blocked, By: "plan", Count: 7, First: []string{"a", "b"}, Reason: "no such rule", Since: at}, {Outcome: inspect.Bypassed, By: "plan", Count: 1, First: []string{"c"}, Reason: "skip rule", Since: at}}) {
		got = append(got, fmt.Sprintf("%s %s: %s", c.Severity, c.Key, c.Title))
		if c.Since.IsZero() && c.About != AboutToken {
			t.Errorf("%s has no beginning", c.Key)
		}
	}
	want := []string{
		"warning clock/database: Database: " + s.Replicas.Forward.Text(),
		"warning commit/4f2a00000000000: Commit 4f2a00000000 is not accepted: it removes 30 of 40 zones",
		"warning outage/route/ops: Outage of route ops: 404",
		"warning outage/sink/vault: Outage of sink vault: 403",
		"warning outage/zone/no answer: Outage of a.example, b.example: no answer",
		"warning token/ci/quarantined: Token ci is quarantined: no answer",
		"warning token/old/expires: Token old ends at 2026-03-02T02:00:00Z, and nothing follows it",
		"warning waves/1d9f: The rollout of commit 1d9f is halted at wave 1 of 3",
		"warning zones/blocked/plan: 7 zones are blocked: no such rule",
		"critical zones/bypassed/plan: 1 zone is bypassed: skip rule",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	j := newJudge("ops", Info, nil)
	for _, m := range j.next(s, Causes(s, nil)) {
		if m.Cause == "outage/route/ops" {
			t.Error("a route is to report that it does not work")
		}
	}
}

// TestManyTokens: tokens beyond a bound share a message.
func TestManyTokens(t *testing.T) {
	s := whole(at)
	for i := range 500 {
		s.Tokens.Findings = append(s.Tokens.Findings, inspect.Token{Token: fmt.Sprintf("t%03d", i), Outcome: inspect.Undelivered})
	}
	all := Causes(s, nil)
	if len(all) != mostTokens+1 || !strings.Contains(all[0].Title+all[len(all)-1].Title, "480 more tokens") && !strings.Contains(all[0].Title, "480") {
		t.Errorf("%d causes, the last %q", len(all), all[len(all)-1].Title)
	}
}

// TestPublished: a new version is a warning where it makes protection weaker, and has one id.
func TestPublished(t *testing.T) {
	weaker := radar.Report{Rulesets: []radar.Published{{
		Accounts: []radar.Account{{Key: "prod"}}, ID: "r1", Name: "Core", Versions: []radar.Seen{{Version: "11"}, {Version: "12", At: at}},
		Groups: []radar.Group{{Direction: diff.Weakens, Zones: make([]radar.Zone, 40)}, {Blocked: true, Zones: make([]radar.Zone, 2)}},
	}}}
	same := radar.Report{Rulesets: []radar.Published{{Accounts: []radar.Account{{Key: "prod"}}, Name: "Other", Versions: []radar.Seen{{Version: "1"}, {Version: "2", At: at}}}}}
	first := radar.Report{Rulesets: []radar.Published{{Name: "First", Versions: []radar.Seen{{Version: "1"}}}}}
	news := []radar.Report{weaker, same, first}
	all, warnings := published("ops", Info, news, at), published("ops", Warning, news, at.Add(time.Hour))
	if len(all) != 2 || len(warnings) != 1 || all[0].ID != warnings[0].ID || all[0].ID == all[1].ID {
		t.Fatalf("%+v\n%+v", all, warnings)
	}
	want := `Managed ruleset "Core" of account prod has version 12 (was 11): protection is weaker in 40 deployments, the declaration of 2 deployments is blocked`
	if !strings.HasSuffix(all[1].Title, ": protection is the same in all deployments") {
		t.Error(all[1].Title)
	}
	if all[0].Title != want || all[0].Severity != Warning || all[1].Severity != Info {
		t.Errorf("%+v", all)
	}
}
