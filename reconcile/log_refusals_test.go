package reconcile

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// logMemory is one that outlives a process, and may fail.
type logMemory struct {
	has  map[edge.Scope]string
	fail error
}

func (m *logMemory) Logged(context.Context) (map[edge.Scope]string, error) {
	return maps.Clone(m.has), m.fail
}

func (m *logMemory) NoteLogged(_ context.Context, zone edge.Scope, digest string) error {
	if m.fail != nil {
		return m.fail
	}
	if m.has[zone] = digest; digest == "" {
		delete(m.has, zone)
	}
	return nil
}

const refusedLine = "WARN change refused"

// refusedIn is a look at a zone in which a guard refuses a change.
func refusedIn(zone edge.Scope, deployment string, guard diff.Guard) Report {
	c := diff.Change{Zone: zone.String(), Scope: zone, Deployment: deployment, Refused: &diff.Refusal{Guard: guard, Reason: "no one has agreed"}}
	c.Operation = diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Ruleset: edge.RulesetID(deployment)}}
	return Report{Trigger: TriggerSweep, Scope: Scope{Slice: true, Zone: zone}, Plan: diff.Plan{Changes: []diff.Change{c}}}
}

// A restart repeats no line of a change that a guard refuses. Any other refusal is new.
func TestARestartRepeatsNoRefusal(t *testing.T) {
	memory := &logMemory{has: map[edge.Scope]string{}}
	start := func() *logs {
		l := newLogs(t)
		l.Memory = memory
		return l
	}
	want := func(l *logs, r Report, lines int) {
		t.Helper()
		if n := count(l.report(r), refusedLine); n != lines {
			t.Errorf("%d lines, want %d", n, lines)
		}
	}
	held, other := refusedIn(edge.ZoneScope("z1"), "core", diff.GuardApproval), refusedIn(edge.ZoneScope("z1"), "core", diff.GuardFreeze)
	l := start()
	want(l, held, 1)
	want(l, held, 0)

	l = start()
	want(l, held, 0)
	sum := Report{Trigger: TriggerSweep, Scope: Scope{Sum: true, Full: true}, Plan: held.Plan}
	if n := count(l.report(sum), "INFO changes are refused as was logged before"); n != 1 {
		t.Errorf("%d lines of the end of the turn", n)
	}
	want(l, other, 1) // another guard
	want(start(), held, 1)
	changed := refusedIn(edge.ZoneScope("z1"), "core", diff.GuardApproval)
	changed.Plan.Changes[0].Operation = diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Ruleset: "core"}, Body: edge.Rule{Expression: "false"}}
	want(start(), changed, 1) // what would be written is another thing, for the same reason
	want(start(), held, 1)
	two := held
	two.Plan.Changes = append(two.Plan.Changes, refusedIn(edge.ZoneScope("z1"), "owasp", diff.GuardApproval).Plan.Changes...)
	l = start()
	want(l, two, 2) // not what was logged last
	want(start(), two, 0)

	gone := held
	gone.Plan.Changes = nil
	l = start()
	want(l, gone, 0)
	want(start(), two, 2) // it was over in between

	l = start()
	l.report(refusedIn(edge.ZoneScope("z2"), "core", diff.GuardApproval))
	l.report(Report{Trigger: TriggerSweep, Scope: Scope{Sum: true, Full: true}}) // the zone is not declared any more
	want(l, two, 2)

	memory.fail = errors.New("the disk is full")
	want(start(), two, 2)
}

// A refusal for which a turn had no room was not logged, so it is after a restart.
func TestARefusalWithoutRoomIsNotRemembered(t *testing.T) {
	memory := &logMemory{has: map[edge.Scope]string{}}
	told := 0
	for range 3 {
		l := newLogs(t)
		l.Memory = memory
		for i := range 2*linesPerRun + 5 {
			told += count(l.report(refusedIn(edge.ZoneScope(edge.ZoneID(rune('a'+i))), "core", diff.GuardApproval)), refusedLine)
		}
	}
	if told != 2*linesPerRun+5 {
		t.Errorf("%d lines in three processes, want one for each zone", told)
	}
}
