package inspect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// healthy is the status of a daemon with nothing to do.
func healthy() Status {
	s := Status{
		Version: Version, At: noon, Program: "v1.2.3", Mode: ModeApply, Started: noon.Add(-50 * time.Hour), Reasons: []string{}, NotReady: []string{},
		Commit: Commit{InForce: "1234567890abcdef", Wanted: "1234567890abcdef"},
		Source: Source{LastSuccess: noon.Add(-30 * time.Second), AgeSeconds: 30},
		Zones:  Zones{Declared: 12, Outcomes: map[Outcome]int{}, Observed: noon.Add(-5 * time.Second), Notable: []Notable{}},
		Tokens: Tokens{Findings: []Token{}, Expiring: []diff.Expiry{}},
		Queue:  []Priority{{Priority: "push"}, {Priority: "sweep", Waiting: 12}},
		Work:   Work{Workers: 16}, Budget: Budget{Requests: 1200, PerSeconds: 300, Left: 1100, Used: 100},
		Outages: []reconcile.Outage{}, Holds: []diff.Hold{}, Freezes: []Freeze{},
	}
	for _, o := range Outcomes() {
		s.Zones.Outcomes[o] = 0
	}
	s.Zones.Outcomes[InSync] = 12
	return s.Judged()
}

// with is a status of which something else is so, judged.
func with(change func(*Status)) Status {
	s := healthy()
	change(&s)
	return s.Judged()
}

// is has one zone with an outcome, decided a while ago.
func is(outcome Outcome, ago time.Duration) func(*Status) {
	return func(s *Status) {
		s.Zones.Outcomes[InSync]--
		s.Zones.Outcomes[outcome]++
		s.Zones.Notable = append(s.Zones.Notable, Notable{"shop.example", edge.ZoneScope("a01"), "prod", outcome, "it is so", s.At.Add(-ago)})
	}
}

func TestVerdict(t *testing.T) {
	held := func(s *Status) {
		s.Commit.Wanted, s.Commit.Held = "fedcba9876543210", &Held{Reason: "it is invalid", Since: noon}
	}
	expiring := func(in time.Duration) func(*Status) {
		return func(s *Status) { s.Tokens.Expiring = []diff.Expiry{{Token: "ci", At: noon.Add(in), Current: true}} }
	}
	for name, test := range map[string]struct {
		change func(*Status)
		want   Verdict
		reason string
	}{
		"nothing":           {func(*Status) {}, Healthy, ""},
		"not read":          {is(NotRead, 0), Healthy, ""},
		"held, as declared": {func(s *Status) { s.Holds = []diff.Hold{{Zone: "a", Until: noon}} }, Healthy, ""},
		"put back": {func(s *Status) {
			s.Zones.Outcomes[InSync], s.Zones.Outcomes[PutBack] = 8, 4
			for _, zone := range []string{"a", "b", "c", "d"} {
				s.Holds = append(s.Holds, diff.Hold{Zone: zone, Declaration: "d", Commit: "0123456789abcdef", Reason: "revert of commit 01 (lee)"})
			}
		}, Attention, "4 zones are put back by revert of commit 01 (lee), until a new commit changes the zone: a, b, c and 1 more"},
		"observed":         {is(Observed, time.Hour), Working, "1 zone is observed: shop.example"},
		"pending":          {is(Pending, time.Hour), Working, "1 zone is pending: shop.example"},
		"waiting":          {is(Waiting, time.Hour), Working, "1 zone is waiting: shop.example"},
		"unknown":          {is(Unknown, time.Minute), Working, "1 zone is unknown: shop.example (it is so)"},
		"unknown for long": {is(Unknown, time.Hour), Attention, "shop.example has been unknown since 2026-03-01T11:00:00Z"},
		"failed for long":  {is(Failed, time.Hour), Attention, "shop.example has been failed since 2026-03-01T11:00:00Z"},
		"refused":          {is(Refused, 0), Attention, "1 zone is refused: shop.example"},
		"not kept":         {is(NonConvergent, 0), Attention, "1 zone is non convergent: shop.example"},
		"not deployed":     {is(NotDeployed, 0), Attention, "1 zone is not deployed: shop.example"},
		"forbidden":        {is(Forbidden, 0), Attention, "1 zone is forbidden: shop.example"},
		"an outage":        {func(s *Status) { s.Outages = []reconcile.Outage{{Subject: "git", Cause: "away", Since: noon}} }, Attention, "current outage: git since 2026-03-01T12:00:00Z: away"},
		"an outage that is over soon": {func(s *Status) {
			s.Outages = []reconcile.Outage{{Subject: "git", Cause: "away", Since: noon, Works: noon.Add(time.Second)}}
		}, Healthy, ""},
		"an outage with a fix": {func(s *Status) {
			s.Outages = []reconcile.Outage{{Subject: "git", Cause: "away", Since: noon, Fix: "call someone"}}
		}, Attention, "current outage: git since 2026-03-01T12:00:00Z: away; fix: call someone"},
		"an outage of git": {func(s *Status) {
			s.Source.Error, s.Outages = "no route", []reconcile.Outage{{Subject: "git", Cause: "away", Since: noon}}
		}, Attention, "current outage: git since 2026-03-01T12:00:00Z: away"},
		"git fails":        {func(s *Status) { s.Source.Error = "no route" }, Attention, "git cannot be fetched: no route"},
		"a held commit":    {held, Attention, "commit fedcba987654 is held: it is invalid"},
		"a rollout":        {func(s *Status) { s.Rollout = &Rollout{Waves: 3, Open: 1} }, Working, "a rollout is at wave 1 of 3"},
		"a halted rollout": {func(s *Status) { s.Rollout = &Rollout{Waves: 3, Open: 1, Halted: "2 failed"} }, Attention, "the rollout is halted: 2 failed; fix: seawall revert --commit 1234567890ab, or, once the reason is gone, seawall waves resume"},
		"not ready":        {func(s *Status) { s.NotReady = []string{"late"} }, Attention, "not ready: late"},
		"not ready because of an outage": {func(s *Status) {
			s.Outages = []reconcile.Outage{{Subject: "git", Cause: "away", Since: noon}}
			s.NotReady = []string{"no zone can be read: git: away"}
		}, Attention, "current outage: git since 2026-03-01T12:00:00Z: away"},
		"a token": {func(s *Status) {
			s.Tokens.Findings = []Token{{Token: "ci", Outcome: Refused, Reason: "it is quarantined", Since: noon}}
		}, Attention, "token ci: it is quarantined"},
		"a token unknown for long": {func(s *Status) {
			s.Tokens.Findings = []Token{{Token: "ci", Outcome: Unknown, Reason: "no ledger was begun", Since: s.At.Add(-lasting)}}
		}, Attention, "token ci: no ledger was begun"},
		"a token unknown": {func(s *Status) {
			s.Tokens.Findings = []Token{{Token: "ci", Outcome: Unknown, Reason: "no ledger was begun", Since: s.At.Add(-lasting + 1)}}
		}, Working, "token ci: no ledger was begun"},
		"a token that a person must act for": {func(s *Status) {
			s.Tokens.Findings = []Token{{Token: "ci", Outcome: Unknown, Reason: "no ledger was begun", Since: s.At, Fix: "seawall token init", Lasts: true}}
		}, Attention, "token ci: no ledger was begun; fix: seawall token init"},
		"a token to come": {func(s *Status) {
			s.Tokens.Findings = []Token{{Token: "ci", Outcome: Pending, Reason: "create is not done", Since: noon}}
		}, Working, "token ci: create is not done"},
		"a token's end": {expiring(20 * 24 * time.Hour), Healthy, ""},
		"an overdue look": {
			func(s *Status) { s.Source.Looking, s.Source.Overdue = noon, true }, Attention,
			"the look at git that began at 2026-03-01T12:00:00Z takes far too long; fix: look for what keeps the processes that fetch and evaluate from running, or for a commit that is very large",
		},
		"a token's near end": {expiring(50 * time.Hour), Attention, "token ci expires in 2 days"},
	} {
		t.Run(name, func(t *testing.T) {
			s := with(test.change)
			if s.Verdict != test.want {
				t.Errorf("%s: %v; want %s", s.Verdict, s.Reasons, test.want)
			}
			if (s.Source.Error != "" || len(s.Outages) > 0) && len(s.Reasons) > 1 {
				t.Errorf("an outage is told of more than once: %q", s.Reasons)
			}
			if test.reason != "" && !slices.Contains(s.Reasons, test.reason) || (test.reason == "") != (len(s.Reasons) == 0) {
				t.Errorf("reasons %q, want %q", s.Reasons, test.reason)
			}
		})
	}
}

// everything is a status with each member.
func everything() Status {
	return with(func(s *Status) {
		is(Refused, time.Hour)(s)
		is(Waiting, time.Minute)(s)
		s.Commit.Wanted, s.Commit.Held = "fedcba9876543210", &Held{
			Author: "Kim <kim@example.com>", Reason: "it is invalid", Problems: []string{"a.cue:1:1: no"}, Since: noon, Fix: "git revert fedcba987654 and push",
		}
		s.Mode, s.Commit.LedgerPutBack, s.Commit.Changes = ModeObserve, true, &Changes{Zones: 12, Weakened: 8, Strengthened: 3}
		s.Source = Source{LastSuccess: noon, AgeSeconds: 1, Failures: 2, Error: "no route", Looking: noon, LookingSeconds: 1, Overdue: true}
		s.Zones.Drift = &Drift{"shop.example", edge.ZoneScope("a01"), noon, 60}
		s.Tokens = Tokens{
			Declared: 2, LookedAt: noon, Findings: []Token{{Token: "ci", Outcome: Refused, Reason: "it is quarantined", Since: noon}},
			Expiring: []diff.Expiry{{Token: "ci", ID: "id", At: noon.Add(time.Hour), Current: true}},
		}
		s.Queue = []Priority{{Priority: "retry", Waiting: 2, Due: 1, AtWork: 1, Oldest: noon, OldestSeconds: 90}}
		s.Work = Work{Workers: 16, AtWork: 1, On: "shop.example", Oldest: noon, OldestSeconds: 3, PlatformDown: true, Retried: 1}
		s.Budget.PausedSeconds, s.Budget.WaitedSeconds, s.Budget.RequestsWaitedSeconds = 20, 4000, 3
		s.Outages = []reconcile.Outage{{Subject: reconcile.OutageZone, Name: "shop.example", Cause: "500", Since: noon, Zones: 1, Tries: 3}, {
			Subject: reconcile.OutageCredential, Name: "credentials.rulesets", Cause: "the platform answers 401 Unauthorized", Since: noon, Zones: 12, Tries: 3,
			Fix: "set it", Next: s.At.Add(25 * time.Second),
		}, {Subject: reconcile.OutageGit, Cause: "away", Since: noon, Works: noon, Tries: 3}}
		s.Rollout = &Rollout{Waves: 3, Open: 1, Next: noon, Halted: "2 zones failed"}
		s.Holds, s.Freezes = []diff.Hold{{Zone: "shop.example", Until: noon, Reason: "INC-1"}}, []Freeze{{"weekend", noon}}
		s.NotReady = []string{"late"}
		s.Weakened = []Weakening{{Number: 7, Account: "prod", Ruleset: "Core Ruleset", Version: "42", FirstSeen: noon, Weakens: 8, Blocked: 1}}
	})
}

// someZones are zones with each member, and with as little as can be.
func someZones() ZoneList {
	z := Zone{
		Zone: "shop.example", Scope: edge.ZoneScope("a01"), Account: "prod", Origin: desired.Origin{File: "edge.cue", Line: 6, Column: 8}, Commit: "1234567890abcdef",
		Outcome: Waiting, LookedAt: noon.Add(-time.Minute), WrittenAt: noon.Add(-26 * time.Hour), Drift: true, Differs: noon.Add(-time.Hour),
		Decisions: []Decision{{
			Deployment: "core", Stage: StageGuard, Outcome: Waiting, Guard: diff.GuardHold, Reason: "the zone is held", Release: "seawall hold release zone shop.example",
			Approve: "sha256:1", Until: noon.Add(time.Hour), Since: noon.Add(-time.Hour),
		}},
		Fields: []Field{{"", "core", "enabled", true, false, diff.Weakens, ""}, {"", "core", "expression", nil, "a <b>", diff.Neutral, "a note"}}, Unread: "it was not read",
		Undecided: []Leftover{{"", "core", `overrides.rules["R1"].action`, "log", "block", "SQL injection"}},
		Declares: []Declared{
			{"", "core", []DeclaredMember{{"paranoia", 3, desired.Origin{File: "a.cue", Line: 4, Column: 2}}, {"threshold.score", 40, desired.Origin{File: "b.cue", Line: 5, Column: 1}}, {"threshold.action", "block", desired.Origin{File: "b.cue", Line: 6, Column: 1}}}, desired.Origin{}},
			{"", "other", []DeclaredMember{{"enabled", false, desired.Origin{File: "a.cue", Line: 9, Column: 2}}}, desired.Origin{}},
			{"", "third", []DeclaredMember{}, desired.Origin{}},
		},
		Outages: []reconcile.Outage{
			{Subject: reconcile.OutageGit, Cause: "away", Since: noon, Tries: 3, Fix: "call someone", Next: noon.Add(25 * time.Second)},
			{Subject: reconcile.OutagePlatform, Cause: "the platform answers 503", Since: noon, Tries: 3},
		},
		Newer:  &Newer{"fedcba9876543210", Held{Author: "Kim <kim@example.com>", Reason: "it is invalid", Since: noon, Fix: "git revert fedcba987654 and push"}},
		Hold:   &diff.Hold{Zone: "shop.example", Until: noon.Add(time.Hour), Reason: "INC-1"},
		AtWork: &AtWork{noon, 3, "sweep", "its turn"},
		Next:   &Next{noon, -90, "retry", "it failed before", WaitsAsked, "", noon.Add(20 * time.Second)},
	}
	least := Zone{Zone: "b", Scope: edge.ZoneScope("a02"), Account: "prod", Outcome: NotRead, Decisions: []Decision{}, Fields: []Field{}, Outages: []reconcile.Outage{}}
	list := ZoneList{Version: Version, At: noon, Zones: []Zone{z, least}}
	for i := range list.Zones {
		list.Zones[i].Why = list.Zones[i].Sentences(noon)
	}
	list.Zones[0] = list.Zones[0].WithChanged(&Changed{Commit: "abcdef1234567890", Author: "Ada <ada@example.com>", Time: noon, Subject: "Raise\x1b"}, "")
	list.Zones[1] = list.Zones[1].WithChanged(nil, "no store")
	return list
}

func TestSchemas(t *testing.T) {
	status, zone := compiled(t, StatusSchema), compiled(t, ZoneSchema)
	for name, s := range map[string]Status{"healthy": healthy(), "everything": everything()} {
		if err := status.Validate(instance(t, s)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := zone.Validate(instance(t, someZones())); err != nil {
		t.Error(err)
	}
	list, declared := someZones(), DeclaredOf(desired.Zone{Others: []desired.Other{{Kind: "list", Key: "vpn", Origin: desired.Origin{File: "a.cue", Line: 4, Column: 2}}}})
	list.Zones[0].Declares = declared
	list.Zones[0].Decisions[0].Kind, list.Zones[0].Fields[0].Kind, list.Zones[0].Undecided[0].Kind = "list", "list", "list"
	if err := zone.Validate(instance(t, list)); err != nil || declared[0].String() != "list vpn (a.cue:4)" {
		t.Errorf("%v; %s", err, declared[0])
	}

	// They are closed, and nothing that is always there may be left out.
	for name, spoil := range map[string]func(map[string]any){
		"unknown":        func(m map[string]any) { m["more"] = 1 },
		"without queue":  func(m map[string]any) { delete(m, "queue") },
		"another number": func(m map[string]any) { m["version"] = 2 },
		"a new outcome":  func(m map[string]any) { m["zones"].(map[string]any)["outcomes"].(map[string]any)["odd"] = 1 },
	} {
		m := instance(t, everything()).(map[string]any)
		spoil(m)
		if status.Validate(m) == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
	m := instance(t, someZones()).(map[string]any)
	m["zones"] = []any{}
	if zone.Validate(m) == nil {
		t.Error("the schema takes no zone")
	}
}

func compiled(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	must.Do(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	must.Do(t, compiler.AddResource("schema.json", document))
	s, err := compiler.Compile("schema.json")
	must.Do(t, err)
	return s
}

func instance(t *testing.T, value any) any {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, JSON(&b, value))
	i, err := jsonschema.UnmarshalJSON(&b)
	must.Do(t, err)
	return i
}

// TestJSONComesBack: what a daemon writes a command reads as the same.
func TestJSONComesBack(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, JSON(&b, everything()))
	var back Status
	must.Do(t, json.Unmarshal(b.Bytes(), &back))
	if d := cmp.Diff(everything(), back); d != "" {
		t.Errorf("(-sent +read):\n%s", d)
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	must.Do(t, everything().Text(&b, true))
	const want = `status     attention, mode observe (nothing is written), as of 2026-03-01T12:00:00Z; seawall v1.2.3, running for 2d02h
           - current outage: zone shop.example since 2026-03-01T12:00:00Z: 500 (1 zone)
           - current outage: credential credentials.rulesets since 2026-03-01T12:00:00Z: the platform answers 401 Unauthorized (12 zones)
             fix: set it; next try in 25s, at 2026-03-01T12:00:25Z
           - the ledger was put back to an earlier time, so a newer commit may have been in force: nothing is written until git is fetched, and its newest commit is accepted
           - commit fedcba987654 by Kim <kim@example.com> is held: it is invalid
             fix: git revert fedcba987654 and push
           - the rollout is halted: 2 zones failed
             fix: seawall revert --commit 1234567890ab, or, once the reason is gone, seawall waves resume
           - 1 zone is refused: shop.example
           - token ci: it is quarantined
           - token ci expires in 1 hour
           - not ready: late
           - the platform asked to wait (429, Retry-After) until 2026-03-01T12:00:20Z
             fix: nothing, unless it lasts: then lower budget in the configuration, or find what else uses the credential
           - 1 zone is waiting: shop.example
commit     1234567890ab in force: weakens 8 of 12 zones, strengthens 3
           fedcba987654 wanted, held since 2026-03-01T12:00:00Z: it is invalid
             a.cue:1:1: no
source     fetched 1s ago, at 2026-03-01T12:00:00Z
           2 failures since: no route
zones      12 declared, 10 in sync, 1 waiting, 1 refused
           the last was read 5s ago
drift      oldest: shop.example, for 1m00s
tokens     2 declared, checked 0s ago
           ci: refused: it is quarantined
           ci expires in 1 hour
work       1 of 16 workers busy, the oldest on shop.example for 3s
           all reads fail; Seawall tests with one request at a time
           1 zone is tried again after a failure
queue      retry     2 waiting, 1 due, the oldest for 1m30s
budget     the platform asked to wait (429, Retry-After) until 2026-03-01T12:00:20Z, for 20s; 100 of 1200 requests used in 5m00s; zones have waited 1h06m for the budget since the start
rollout    wave 1 of 3, halted: 2 zones failed
hold       shop.example is held until 2026-03-01T12:00:00Z: INC-1
freeze     weekend until 2026-03-01T12:00:00Z
radar      "Core Ruleset" of account prod has version 42 since 2026-03-01T12:00:00Z: weakens protection in 8 zones; blocks the declaration of 1 zone
outage     works again since 2026-03-01T12:00:00Z: git since 2026-03-01T12:00:00Z: away

ZONE          OUTCOME  FOR    REASON
shop.example  refused  1h00m  it is so
shop.example  waiting  1m00s  it is so
seawall why ZONE explains one of them.
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTextOfZones(t *testing.T) {
	list := someZones()
	var b strings.Builder
	must.Do(t, list.Text(&b))
	b.WriteString("---\n")
	must.Do(t, list.Why(&b))
	const want = `zone       shop.example (account prod, id a01)
outcome    waiting
           - core: guard (hold), for 1h00m: the zone is held
declared   edge.cue:6:8; commit 1234567890ab is in force
           core: paranoia 3 (a.cue:4), threshold 40 (b.cue:5) block (b.cue:6)
           other: disabled (a.cue:9)
           third: neither paranoia nor threshold is declared
changed    commit abcdef123456 of 2026-03-01T12:00:00Z by Ada <ada@example.com>: "Raise\u{1b}"
last read  1m00s ago, at 2026-03-01T11:59:00Z
written    26h00m ago, at 2026-02-28T10:00:00Z
at work    for 3s (sweep: its turn)
next read  due for 1m30s (retry: it failed before), waits for: throttle
hold       held until 2026-03-01T13:00:00Z: INC-1
differs    since 2026-03-01T11:00:00Z, drift
fields     not known: it was not read
           core enabled: live true → declared false (weakens)
           core expression: live unset → declared "a <b>" (neutral)
           core rule R1 action: live "log", not in git (SQL injection)

zone       b (account prod, id a02)
outcome    not read
declared   
changed    not known: no store
last read  not since the daemon started
next read  none is planned
---
shop.example (account prod) is not as declared; a guard holds the change back for some time.
Outage: git since 2026-03-01T12:00:00Z: away; so newer commits are not seen, and this is of commit 1234567890ab.
Fix: call someone; next try in 25s, at 2026-03-01T12:00:25Z.
Outage: platform since 2026-03-01T12:00:00Z: the platform answers 503; so this is as of the last read.
This is of commit 1234567890ab: commit fedcba987654 by Kim <kim@example.com> is held: it is invalid.
Fix: git revert fedcba987654 and push.
Declared: core: paranoia 3 (a.cue:4), threshold 40 (b.cue:5) block (b.cue:6).
Declared: other: disabled (a.cue:9).
Declared: third: neither paranoia nor threshold is declared.
Last change of the declaration: commit abcdef123456 of 2026-03-01T12:00:00Z by Ada <ada@example.com>: "Raise\u{1b}".
Stage guard, guard hold, deployment core, since 2026-03-01T11:00:00Z (1h00m ago): the zone is held.
What changes that: seawall hold release zone shop.example.
It ends by itself at 2026-03-01T13:00:00Z.
Differs: core: enabled: declared false → live true.
Differs: core: expression (a note): declared "a <b>" → live unset.
Not in git: core: rule R1 action (SQL injection): live "log", and "block" when last proved.
To keep what is live: seawall absorb shop.example declares it.
The last write was proved 26h00m ago.
It has differed since 2026-03-01T11:00:00Z (drift: the live state changed without a commit).
The zone is held until 2026-03-01T13:00:00Z: INC-1.
A worker has processed it for 3s (priority sweep: its turn).
Next read: due for 1m30s (priority retry: it failed before); it waits because the platform asked to wait (429, Retry-After) until 2026-03-01T12:00:20Z.

b (account prod) has not been read since the daemon started; an earlier process proved that it was as declared.
Last change of the declaration: not known: no store.
No next read is planned. A new commit, or the end of a wait, starts one.
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestEachOutcomeHasWords: none is left without a sentence, a place and a schema.
func TestEachOutcomeHasWords(t *testing.T) {
	for _, o := range Outcomes() {
		if line := (Zone{Zone: "z", Outcome: o}).headline(); !strings.HasSuffix(line, ".") {
			t.Errorf("%s: %q", o, line)
		}
		for name, schema := range map[string][]byte{"status": StatusSchema, "zone": ZoneSchema} {
			if !bytes.Contains(schema, []byte(`"`+string(o)+`"`)) {
				t.Errorf("%s is not in the schema of a %s", o, name)
			}
		}
	}
}

// TestTextKeepsToItsLine: what comes from a server or a repository cannot reach a
// terminal's control sequences.
func TestTextKeepsToItsLine(t *testing.T) {
	s := everything()
	s.Zones.Notable[0].Reason, s.Source.Error = "a\x1b[31mb\nQ", "x\ny\x07"
	var b strings.Builder
	must.Do(t, s.Text(&b, true))
	if strings.ContainsAny(b.String(), "\x1b\x07") || strings.Contains(b.String(), "\nQ") {
		t.Errorf("%q", b.String())
	}
}

// TestCut: a table shows what an error says, and not the call it begins with.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"it is held: INC-1":                      "it is held: INC-1",
		"GET /zones/a01: 404 Not Found: (10001)": "404 Not Found: (10001)",
		strings.Repeat("é", 101):                 strings.Repeat("é", 99) + "…",
	} {
		if got := (&textWriter{terminal: true}).cut(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if long := strings.Repeat("é", 101); (&textWriter{}).cut(long) != long {
		t.Error("cut where no terminal is")
	}
}
