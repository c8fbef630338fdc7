package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

func digestOf(zone edge.Scope) string { return "sha256:" + zone.ID + zone.ID }

// Zone implements [page.Data].
func (d *Data) Zone(_ context.Context, scope edge.Scope) (inspect.ZonePage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, ok := d.at[scope]
	if !ok {
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: scope.Text()}
	}
	r := d.rows[i]
	z := inspect.Zone{
		Zone: r.Zone, Scope: r.Scope, Account: r.Account, Origin: r.Origin, Commit: Commit, Outcome: r.Outcome, LookedAt: r.LookedAt,
		WrittenAt: At.Add(-26 * time.Hour), Decisions: []inspect.Decision{}, Fields: []inspect.Field{}, Outages: []reconcile.Outage{},
		Declares: []inspect.Declared{{Deployment: d.text("core"), Members: []inspect.DeclaredMember{
			{Path: "paranoia", Value: 2, Origin: r.Origin},
			{Path: "threshold.score", Value: 25, Origin: r.Origin},
			{Path: "threshold.action", Value: "block", Origin: r.Origin},
		}}},
		Next: &inspect.Next{Due: At.Add(9 * time.Minute), Seconds: 540, Priority: "sweep", Reason: "the sweep reads each zone every 30 minutes"},
	}
	if r.Held {
		z.Hold = &diff.Hold{Zone: r.Zone, Until: At.Add(20 * time.Hour), Reason: d.text("the shop has its sale"), Scope: r.Scope}
	}
	p := inspect.ZonePage{Labels: r.Labels, Waiting: []inspect.WaitingChange{}, May: d.labels(r)}
	differs := r.Outcome != inspect.InSync && r.Outcome != inspect.NotRead
	if differs {
		z.Differs, z.Drift = r.Since, r.Outcome != inspect.Pending
		z.Fields = []inspect.Field{{Deployment: d.text("core"), Path: "paranoia", Live: 3, Declared: 2, Direction: diff.Weakens}}
		z.Decisions = []inspect.Decision{decisionOf(r)}
	}
	switch r.Outcome {
	case inspect.Unknown, inspect.Forbidden, inspect.NotRead:
		z.Fields, z.Unread = []inspect.Field{}, d.text("%s", reasons[r.Outcome])
	case inspect.Undecided:
		z.Undecided = []inspect.Leftover{{Deployment: d.text("core"), Path: "rules.c04e0000000000000000000100000018.enabled", Live: false, Note: d.text("949110 anomaly score")}}
	case inspect.Bypassed:
		z.Bypasses, z.NotLookedAt = d.bypasses(r)
		z.Looked = []inspect.LookedAt{{Level: edge.LevelAccount, Phase: edge.PhaseFirewallCustom, At: At.Add(-40 * time.Minute)}}
	case inspect.Refused:
		p.Waiting = append(p.Waiting, inspect.WaitingChange{
			Digest: r.Approve, Zone: r.Zone, Scope: r.Scope, Guard: diff.GuardApproval, Reason: r.Reason, What: []string{d.text("update core")}, Fields: z.Fields, Way: diff.Weakens,
		})
	default: // the others have nothing of their own
	}
	z.Why = z.Sentences(At)
	p.Zone, p.Live, p.History = z, d.live(z), d.entries(8, r)
	return p, nil
}

// bypasses are skip rules in each state, and a place that was not looked at.
func (d *Data) bypasses(r inspect.Row) ([]diff.Bypass, []diff.NotLookedAt) {
	always := diff.Bypass{
		Account: r.Account, Zone: r.Zone, Scope: r.Scope, Deployment: d.text("core"), Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
		Rule: "5e1f0000000000000000000000000001", Ref: d.text("partner"), Description: d.text("partner scanner"), Expression: d.text("true"),
		Always: true, All: true, State: diff.BypassNew,
	}
	accepted, found := always, always
	accepted.Rule, accepted.Expression, accepted.Always, accepted.State = "5e1f0000000000000000000000000002", d.text("ip.src eq 192.0.2.7"), false, diff.BypassAccepted
	accepted.Owner, accepted.Until, accepted.Origin = d.text("team-sre"), "2027-03-31", r.Origin
	found.Rule, found.Level, found.Phase, found.Always, found.All, found.State = "5e1f0000000000000000000000000003", edge.LevelAccount, edge.PhaseFirewallCustom, false, false, diff.BypassFound
	found.Expression, found.Description = d.text(`http.request.uri.path eq "/health"`), ""
	found.Rules = []diff.SkippedRule{{ID: "c04e0000000000000000000100000018", Description: d.text("949110 anomaly score")}}
	return []diff.Bypass{always, accepted, found},
		[]diff.NotLookedAt{{Account: r.Account, Level: edge.LevelZone, Phase: edge.PhaseRateLimit, Zones: 1, Reason: d.text("off: bypass.phases is not set")}}
}

func decisionOf(r inspect.Row) inspect.Decision {
	one := inspect.Decision{Stage: inspect.StagePlan, Outcome: r.Outcome, Reason: r.Reason, Since: r.Since, Approve: r.Approve}
	switch r.Outcome {
	case inspect.Refused:
		one.Stage, one.Guard, one.Deployment, one.Release = inspect.StageGuard, diff.GuardApproval, "core", "seawall approve "+r.Approve
	case inspect.Waiting:
		one.Stage, one.Guard, one.Until = inspect.StageGuard, diff.GuardHold, At.Add(20*time.Hour)
	case inspect.Unknown, inspect.Forbidden:
		one.Stage = inspect.StageRead
	case inspect.Failed:
		one.Stage = inspect.StageWrite
	case inspect.NonConvergent:
		one.Stage = inspect.StageProve
	default: // decided by the plan
	}
	return one
}

func (d *Data) live(z inspect.Zone) []inspect.LiveMember {
	members := []inspect.LiveMember{}
	if z.Unread != "" {
		return members
	}
	for _, one := range z.Declares {
		for _, m := range one.Members {
			live, same := m.Value, true
			if m.Path == "paranoia" && len(z.Fields) > 0 {
				live, same = 3, false
			}
			members = append(members, inspect.LiveMember{Deployment: one.Deployment, Path: m.Path, Declared: m.Value, Live: live, Same: same, Origin: m.Origin})
		}
	}
	return members
}

// entries are the newest so many entries of the history of a zone, the newest first.
func (d *Data) entries(n int, r inspect.Row) []reconcile.Entry {
	entries := make([]reconcile.Entry, 0, n)
	for i := range n {
		entries = append(entries, d.entry(int64(lastEntry-3*i), r))
	}
	return entries
}

// lastEntry is the number of the newest entry.
const lastEntry = 4711

func (d *Data) entry(number int64, r inspect.Row) reconcile.Entry {
	e := reconcile.Entry{
		Number: number, At: At.Add(-time.Duration(lastEntry-number) * time.Minute), Kind: reconcile.EntryWrite, Action: "update", Trigger: reconcile.TriggerSync,
		Asked:   reconcile.Asked{Commit: Commit, Author: d.text("Ada Lovelace <ada@example.com>")},
		Subject: reconcile.Subject{Account: r.Account, Zone: r.Zone, Scope: r.Scope, Deployment: d.text("core")},
		Members: []reconcile.MemberChange{{Path: "paranoia", Old: json.RawMessage("3"), New: json.RawMessage("2"), Owned: true}},
		Result:  &reconcile.WriteResult{Outcome: reconcile.Converged, Version: "18", At: At}, Direction: diff.Weakens,
	}
	switch number % 5 {
	case 1:
		e.Trigger, e.Asked, e.Direction = reconcile.TriggerSweep, reconcile.Asked{}, diff.Strengthens
	case 2:
		e.Kind, e.Action, e.Members, e.Result, e.Direction = reconcile.EntryDecision, reconcile.ActionHold, nil, nil, ""
		e.Asked, e.Reason, e.Until = reconcile.Asked{User: d.text("oidc:grace@example.com")}, d.text("the shop has its sale"), At.Add(20*time.Hour)
	case 3:
		e.Result = &reconcile.WriteResult{Outcome: reconcile.NonConvergent, Reason: d.text("threshold.score is 40 after 25 was written"), At: At}
	case 4:
		e.Kind, e.Action, e.Members, e.Result, e.Direction, e.Subject = reconcile.EntryCommit, reconcile.ActionAccept, nil, nil, "", reconcile.Subject{}
		e.Asked.Commit, e.Asked.Message = commitOf(min(int(lastEntry-number)/5, commits-1)), d.text("Raise the paranoia of the gold zones")
	}
	return e
}

// token names a token of the fleet.
func (d *Data) token(i int) string {
	return d.text("%s-%02d", []string{"ci-dns", "deploy", "logs"}[i%3], i)
}

func originOf(file string, line int) desired.Origin {
	return desired.Origin{Commit: Commit, File: file, Line: line, Column: 2}
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
