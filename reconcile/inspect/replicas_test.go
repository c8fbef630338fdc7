package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// shared is the status of one of three replicas, which works on 12 of 20 zones.
func shared() Status {
	s := healthy()
	s.Zones = Zones{Declared: 20, Outcomes: map[Outcome]int{}, Here: map[Outcome]int{InSync: 12}, Observed: noon.Add(-time.Minute), Notable: []Notable{}}
	for _, o := range Outcomes() {
		s.Zones.Outcomes[o] = 0
	}
	s.Zones.Outcomes[InSync], s.Zones.Outcomes[NotRead] = 12, 8
	hour := noon.Add(-time.Hour)
	s.Replicas = &Replicas{
		Name: "r1", Database: "postgres://db/seawall", Known: noon.Add(-time.Second),
		Replicas: []Replica{{Name: "r1", Program: "v1", Started: hour, Alive: noon.Add(9 * time.Second), This: true, Leases: 2}, {Name: "r2", Program: "v1", Started: hour, Alive: noon.Add(8 * time.Second), Leases: 1}},
		Leases: []Lease{
			{Name: "commits", Replica: "r2", Epoch: 2, Since: hour, Until: noon.Add(8 * time.Second)},
			{Name: "credential accounts.prod", Replica: "r1", Epoch: 1, Since: hour, Until: noon.Add(8 * time.Second), This: true, Zones: 12},
			{Name: "credential accounts.stage", Replica: "r2", Epoch: 4, Since: hour, Until: noon.Add(8 * time.Second), Zones: 8},
			{Name: "tokens", Replica: "r1", Epoch: 1, Since: hour, Until: noon.Add(8 * time.Second), This: true},
		},
	}
	s.Replicas.Leases[2].Proved, s.Commit.Changes = new(5), &Changes{Zones: 3, Weakened: 3}
	s.Work.Credentials = []Credential{{Name: "stage", Credential: "accounts.stage", Accounts: []string{"stage"}, Zones: 8, Replica: "r2", Budget: Budget{Requests: 77, Left: 77, PerSeconds: 300}}}
	return s.Judged()
}

// silent is the same when the database has not answered for a while.
func silent() Status {
	s := shared()
	s.Replicas.Silent, s.Replicas.Error, s.Replicas.Known = noon.Add(-20*time.Second), "refused", noon.Add(-21*time.Second)
	for i := range s.Replicas.Leases {
		s.Replicas.Leases[i].This = false
	}
	s.Zones.Here = map[Outcome]int{InSync: 0}
	s.Zones.Outcomes[InSync], s.Zones.Outcomes[NotRead] = 0, 20
	s.Zones.Observed = time.Time{}
	return s.Judged()
}

// recorded is what the records say where no daemon answers.
func recorded() Status {
	s := shared()
	s.Replicas.Name, s.Zones.Here, s.Zones.Observed = "", nil, time.Time{}
	for i := range s.Replicas.Leases {
		s.Replicas.Leases[i].This = false
	}
	s.Replicas.Replicas[0].This = false
	free := &s.Replicas.Leases[3]
	free.Replica, free.Since, free.Until, free.Free = "", time.Time{}, time.Time{}, noon.Add(-2*time.Minute)
	s.Zones.Outcomes[InSync], s.Zones.Outcomes[NotRead], s.Zones.Outcomes[Pending] = 0, 18, 2
	s.Records = &OnRecord{
		Database: "postgres://db/seawall", Cause: "the daemon does not answer: no such file", Newest: noon.Add(-time.Minute), Approvals: 1,
		Unfinished: []Unfinished{{What: "update prod / a / core", Since: noon.Add(-time.Hour)}},
	}
	return s.Judged()
}

// TestTextOfReplicas: what a person reads of several machines names who knows more, and how old it is.
func TestTextOfReplicas(t *testing.T) {
	for name, test := range map[string]struct {
		status Status
		want   string
		not    []string
	}{
		"shared": {shared(), `
replica    r1, one of 2 replicas on postgres://db/seawall
           also r2: seawall v1, running for 1h00m, 1 lease
leases     commits: r2, epoch 2, for 1h00m
           zones of accounts.prod (12 zones): this replica, epoch 1, for 1h00m
           zones of accounts.stage (8 zones, 5 proved for the commit in force): r2, epoch 4, for 1h00m
           tokens: this replica, epoch 1, for 1h00m
           - the commit in force is not proved in 3 of the 8 zones of r2
commit     1234567890ab in force: weakens 3 of 20 zones, as far as this replica has read them
credentials  stage: 8 zones, which r2 works on
source     r2 fetches git
zones      20 declared, 12 in sync, r2 works on 8
           the last was read 1m00s ago
`, []string{"not read", "77"}},
		"silent": {silent(), `
           the database cannot be used since 2026-03-01T11:59:40Z: refused
           what follows of replicas and leases is as of 2026-03-01T11:59:39Z, when it answered last
           also r2: seawall v1, started at 2026-03-01T11:00:00Z, 1 lease
leases     commits: r2, epoch 2, for 1h00m
           zones of accounts.prod (12 zones): this replica, until it was over
source     r2 fetched git when the database answered last
zones      20 declared, this replica worked on 12 until its lease was over, r2 worked on 8 when the database answered last
`, []string{"running for 1h00m, 1 lease", "not read"}},
		"recorded": {recorded(), `
status     attention, from the records, which were read at 2026-03-01T12:00:00Z
           - a write of 2026-03-01T11:00:00Z has no result: update prod / a / core
             fix: nothing, while a replica works on it: it reads the zone first
           - no replica has the lease "tokens" since 2026-03-01T11:58:00Z
           - 2 zones are pending
records    of postgres://db/seawall; the newest entry of the history is 1m00s old
           the daemon does not answer: no such file
replicas   2 run on postgres://db/seawall
           r1: seawall v1, running for 1h00m, 2 leases
           tokens: no replica has it since 2026-03-01T11:58:00Z
zones      20 declared, 18 proved as declared, 2 pending
approvals  1 counts, and not used yet
no result  update prod / a / core, since 2026-03-01T11:00:00Z
`, []string{"source ", "queue ", "budget ", "work "}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			must.Do(t, test.status.Text(&b, false))
			for _, line := range strings.Split(strings.TrimSpace(test.want), "\n") {
				if !strings.Contains(b.String(), strings.TrimLeft(line, "\n")) {
					t.Errorf("lacks %q", line)
				}
			}
			for _, text := range test.not {
				if strings.Contains(b.String(), text) {
					t.Errorf("has %q", text)
				}
			}
			if err := compiled(t, StatusSchema).Validate(instance(t, test.status)); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Log(b.String())
			}
		})
	}
	killed := recorded()
	killed.Records.Left = "/var/lib/seawall/status.sock"
	if killed = killed.Judged(); killed.Verdict != Attention || killed.Reasons[0] != "the daemon of this machine was killed or has failed: it left its socket; fix: start seawall run or, if none is to run here, delete /var/lib/seawall/status.sock" {
		t.Errorf("%q", killed.Reasons)
	}
	if err := compiled(t, StatusSchema).Validate(instance(t, killed)); err != nil {
		t.Error(err)
	}
	none := recorded()
	none.Replicas.Replicas = nil
	if none = none.Judged(); !strings.HasPrefix(none.Reasons[0], "no replica runs: nothing is read or written") {
		t.Errorf("%q", none.Reasons)
	}
}

// TestZoneOfAnother: of a zone that the process which answers has not read it says what is on record,
// and who knows more.
func TestZoneOfAnother(t *testing.T) {
	z := Zone{
		Zone: "b", Scope: edge.ZoneScope("a02"), Account: "prod", Commit: "abcdef1234567890", Outcome: NotRead, Replica: "r2", Decisions: []Decision{}, Fields: []Field{}, Outages: []reconcile.Outage{},
		Proved: &Proved{Commit: "abcdef1234567890", At: noon.Add(-time.Hour), Now: true}, Past: []Past{{noon.Add(-time.Minute), "update prod / b / core: proved, version 2"}},
	}
	on := z
	on.OnRecord = true
	changed := on
	changed.Outcome, changed.Replica, changed.Hold = Waiting, "", &diff.Hold{Zone: "b", Until: noon.Add(time.Hour), Reason: "INC-1"}
	changed.Proved = &Proved{Commit: "0123456789abcdef", At: noon.Add(-time.Hour)}
	past := "History: 1m00s ago, at 2026-03-01T11:59:00Z: update prod / b / core: proved, version 2."
	for name, test := range map[string]struct {
		zone Zone
		want []string
	}{
		"of a replica": {z, []string{
			"b (account prod) is worked on by replica r2, which knows how it is now: ask on its machine, or with --address.",
			"On record: it was as declared when that was proved 1h00m ago, at 2026-03-01T11:00:00Z, with commit abcdef123456.", past,
		}},
		"on record": {on, []string{
			"b (account prod) is worked on by replica r2, which knows more than the records: ask on its machine, or with --address.",
			"On record: it was as declared when that was proved 1h00m ago, at 2026-03-01T11:00:00Z, with commit abcdef123456.", past,
		}},
		"of none": {changed, []string{
			"b (account prod) is worked on by no replica now. On record it is not as declared yet, and waits.",
			"On record: it was proved 1h00m ago, at 2026-03-01T11:00:00Z, to be as commit 0123456789ab declares, which is not what is declared now.", past,
			"The zone is held until 2026-03-01T13:00:00Z: INC-1.",
		}},
	} {
		if d := cmp.Diff(test.want, test.zone.Sentences(noon)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		test.zone.Why = test.zone.Sentences(noon)
		list := ZoneList{Version: Version, At: noon, Zones: []Zone{test.zone}, Records: recorded().Records}
		if err := compiled(t, ZoneSchema).Validate(instance(t, list)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var b strings.Builder
		must.Do(t, list.Text(&b))
		if text := b.String(); !strings.Contains(text, "\nrecords    of postgres://db/seawall; ") || strings.Contains(text, "since the daemon started") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// A replica that does not work on tokens names who does, and one that has never reached the database
// names no time at which it did.
func TestTextOfWhatIsNotKnown(t *testing.T) {
	r := &Replicas{Name: "a", Leases: []Lease{{Name: string(reconcile.LeaseTokens), Replica: "b"}}}
	s := Status{At: noon, Tokens: Tokens{Declared: 2}, Replicas: r}
	var text strings.Builder
	if err := s.Text(&text, false); err != nil || !strings.Contains(text.String(), "2 declared, b works on them") {
		t.Errorf("%v:\n%s", err, &text)
	}
	text.Reset()
	r.Silent = noon
	if err := s.Text(&text, false); err != nil || !strings.Contains(text.String(), "b worked on them when the database answered last") || strings.Contains(text.String(), "0001") {
		t.Errorf("%v:\n%s", err, &text)
	}
}

// That the clock of the database was set forward needs attention for as long as it matters.
func TestClockSetForwardNeedsAttention(t *testing.T) {
	s := shared()
	s.Replicas.Leases[2].Proved = nil
	s.Replicas.Forward = &Forward{At: noon.Add(-forwardFor + time.Second), Seconds: 90}
	if s = s.Judged(); s.Verdict != Attention || len(s.Reasons) != 1 || !strings.HasPrefix(s.Reasons[0], "the clock of the database was set forward by 1m30s at 2026-03-01T11:00:01Z, or this machine was paused: ") {
		t.Errorf("%s: %q", s.Verdict, s.Reasons)
	}
	if err := compiled(t, StatusSchema).Validate(instance(t, s)); err != nil {
		t.Error(err)
	}
	s.Replicas.Forward.At = noon.Add(-forwardFor)
	if s = s.Judged(); s.Verdict != Healthy {
		t.Errorf("after that it is %s: %q", s.Verdict, s.Reasons)
	}
}
