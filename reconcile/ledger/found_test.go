package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What was changed without Seawall is in the history once for each change, before the first
// write that corrects it, and again after that was proved. A zone begins once, and not where
// something was written before.
func TestFoundIsOnRecordOnce(t *testing.T) {
	l := mustOpen(t, newPath(t))
	heal := wrote("shop")
	heal.Trigger, heal.Direction, heal.Undoing = reconcile.TriggerSweep, diff.Strengthens, diff.Weakens
	heal.Members = []reconcile.MemberChange{{Path: "enabled", Old: json.RawMessage("false"), New: json.RawMessage("true"), Owned: true}}
	change := diff.Change{
		Account: "prod", Zone: "shop", Scope: edge.ZoneScope("shop"), Deployment: "core", Direction: diff.Strengthens,
		Operation: diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Ruleset: "r"}}, Fields: []diff.Field{{Path: "enabled", Old: false, New: true, Direction: diff.Strengthens}},
	}
	begin := func(zone string) reconcile.Entry {
		return reconcile.BeginEntry(reconcile.Proof{Scope: wrote(zone).Subject.Scope, Fingerprint: "f"}, "prod", zone, reconcile.Asked{Commit: "c"})
	}
	must(t, l.Record(t.Context(), begin("new"), reconcile.FoundEntry(change)))
	first, err := l.RecordWrite(t.Context(), heal, nil)
	must(t, err)
	again, err := l.RecordWrite(t.Context(), heal, nil)
	must(t, err)
	must(t, l.Prove(t.Context(), "c", nil, nil, begin("shop"), begin("new"), resultOf(again, "shop", "2")))
	third, err := l.RecordWrite(t.Context(), heal, nil)
	must(t, err)
	if first != 3 || again != 4 || third != 7 {
		t.Errorf("the writes have the numbers %d, %d and %d", first, again, third)
	}
	var got []string
	for _, e := range entries(t, l, reconcile.HistoryFilter{}) {
		text := fmt.Sprint(e.Number, " ", e.Kind, " ", e.Action, " ", e.Subject.Zone)
		if e.Kind == reconcile.EntryFound && e.Action == reconcile.ActionChanged {
			text += fmt.Sprintf(" %s %s: %s to %s by %q", e.Direction, e.Members[0].Path, e.Members[0].Old, e.Members[0].New, e.Asked.Author+e.Asked.Commit)
		}
		got = append(got, text)
	}
	want := `1 found begin new; 2 found changed shop weakens enabled: true to false by ""; 3 write update shop; 4 write update shop; ` +
		`6 found changed shop weakens enabled: true to false by ""; 7 write update shop`
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A skip rule that appears is entered once, also by a process that begins anew and though
// something else was proved in the zone since; again once it was gone.
func TestSkipRuleIsOnRecordOnce(t *testing.T) {
	l := mustOpen(t, newPath(t))
	b := diff.Bypass{
		Account: "prod", Zone: "shop", Scope: edge.ZoneScope("shop"), Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
		Rule: "5e1f", Expression: "true", All: true, State: diff.BypassNew,
	}
	other := b
	other.Rule = "5e20"
	came, gone := reconcile.SkipRuleEntry(nil, &b), reconcile.SkipRuleEntry(&b, nil)
	must(t, l.Record(t.Context(), came, reconcile.SkipRuleEntry(nil, &other)))
	write, err := l.RecordWrite(t.Context(), wrote("shop"), nil)
	must(t, err)
	must(t, l.Prove(t.Context(), "c", nil, nil, resultOf(write, "shop", "2")))
	for _, e := range []reconcile.Entry{came, gone, gone, came} {
		must(t, l.Record(t.Context(), e))
	}
	var got []string
	for _, e := range entries(t, l, reconcile.HistoryFilter{}) {
		if e.Kind == reconcile.EntryFound {
			got = append(got, fmt.Sprint(e.Subject.Ref, " ", e.Direction))
		}
	}
	open, err := l.SkipRules(t.Context())
	must(t, err)
	if len(open) != 2 || open[0].Subject.Ref != "5e1f" || open[1].Subject.Ref != "5e20" {
		t.Errorf("there are %+v", open)
	}
	must(t, l.Record(t.Context(), gone))
	if open, err = l.SkipRules(t.Context()); err != nil || len(open) != 1 {
		t.Errorf("there are %+v, %v", open, err)
	}
	if text := strings.Join(got, "; "); text != "5e1f weakens; 5e20 weakens; 5e1f strengthens; 5e1f weakens" {
		t.Errorf("got %s", text)
	}
}
