package pagetest

import (
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Status implements [page.Data].
func (d *Data) Status() inspect.Status {
	fleet, _ := d.Fleet(inspect.FleetQuery{Limit: 1})
	s := inspect.Status{
		At: At, Program: "v1.0.0", Started: At.Add(-31 * time.Hour), Mode: inspect.ModeApply, NotReady: []string{},
		Zones:  inspect.Zones{Declared: fleet.Declared, Outcomes: fleet.Outcomes, Notable: []inspect.Notable{}},
		Tokens: inspect.Tokens{Findings: []inspect.Token{}, Expiring: []diff.Expiry{}},
		Queue:  []inspect.Priority{}, Outages: []reconcile.Outage{}, Holds: []diff.Hold{}, Freezes: []inspect.Freeze{},
		Budget: inspect.Budget{Requests: 1100, PerSeconds: 300, Left: 1100},
	}
	if d.empty {
		s.Started, s.NotReady = At.Add(-2*time.Second), []string{"no commit is in force yet"}
		return s.Judged()
	}
	s.Commit = inspect.Commit{
		InForce: Commit, Wanted: Held, Changes: &inspect.Changes{Zones: 41, Weakened: 3, Strengthened: 38},
		Held: &inspect.Held{
			Commit: Held, Author: d.text("Grace Hopper <grace@example.com>"), Reason: d.text("it has a mistake"), Since: At.Add(-20 * time.Minute),
			Problems: []string{d.text(`zones/prod.cue:4:10: account.prod.zone."shop.example".waf.core.threshold.action: "blok" is not one of block, log`)},
			Fix:      d.text("correct the mistake and push"),
		},
	}
	s.Source = inspect.Source{LastSuccess: At.Add(-20 * time.Second), AgeSeconds: 20, Next: At.Add(40 * time.Second)}
	s.Zones.Observed = At.Add(-time.Second)
	for _, r := range d.notable() {
		s.Zones.Notable = append(s.Zones.Notable, inspect.Notable{Zone: r.Zone, Scope: r.Scope, Account: r.Account, Outcome: r.Outcome, Reason: r.Reason, Since: r.Since})
		if r.Held {
			s.Holds = append(s.Holds, diff.Hold{Zone: r.Zone, Until: At.Add(20 * time.Hour), Reason: d.text("the shop has its sale")})
		}
	}
	s.Tokens.Declared, s.Tokens.LookedAt = 10, At.Add(-4*time.Minute)
	s.Tokens.Findings = []inspect.Token{{Token: d.token(4), Outcome: inspect.Quarantined, Reason: d.text("it may exist, and its secret is lost"), Since: At.Add(-6 * time.Hour), Fix: "seawall token resolve"}}
	s.Tokens.Expiring = []diff.Expiry{{Token: d.token(1), ID: "t1", At: At.AddDate(0, 0, 28), Current: true}}
	s.Queue = []inspect.Priority{{Priority: "push", Waiting: 12, Due: 12, AtWork: 4, Oldest: At.Add(-9 * time.Second), OldestSeconds: 9}, {Priority: "sweep", Waiting: fleet.Declared}}
	s.Work = inspect.Work{Workers: 8, AtWork: 4, On: d.text("shop-00000.example"), Oldest: At.Add(-time.Second), OldestSeconds: 1, Retried: 2, Credentials: d.credentials(fleet.Declared)}
	s.Budget.Used, s.Budget.Left = 212, 888
	s.Outages = []reconcile.Outage{
		{Subject: reconcile.OutageCredential, Name: d.text("partners"), Cause: d.text("401 Unauthorized"), Since: At.Add(-2 * time.Hour), Fix: d.text("give the credential of account partners a token that is in force"), Next: At.Add(5 * time.Minute), Zones: fleet.Declared / 3, Tries: 24},
		{Subject: reconcile.OutageSink, Name: d.text("vault"), Cause: d.text("connection refused"), Since: At.Add(-30 * time.Minute), Works: At.Add(-time.Minute), Tries: 3},
	}
	s.Rollout = &inspect.Rollout{Waves: 4, Open: 2, Next: At.Add(25 * time.Minute)}
	s.Replicas = d.replicas()
	s.Freezes = []inspect.Freeze{{Name: d.text("black-friday"), Until: At.Add(5 * 24 * time.Hour)}}
	return s.Judged()
}

// replicas are three daemons, of which one has just been paused.
func (d *Data) replicas() *inspect.Replicas {
	r := &inspect.Replicas{Name: d.text("seawall-0"), Database: d.text("postgres://db.example/seawall"), Known: At.Add(-time.Second)}
	for i, name := range []string{"seawall-0", "seawall-1"} {
		r.Replicas = append(r.Replicas, inspect.Replica{Name: d.text("%s", name), Program: d.text("v1.0.0"), Started: At.Add(-31 * time.Hour), Alive: At.Add(8 * time.Second), This: i == 0, Leases: 2 - i})
	}
	r.Leases = []inspect.Lease{
		{Name: "commits", Replica: d.text("seawall-0"), Epoch: 3, Since: At.Add(-31 * time.Hour), Until: At.Add(9 * time.Second), This: true},
		{Name: "credential " + d.text("credentials.accounts.prod"), Replica: d.text("seawall-1"), Epoch: 7, Since: At.Add(-time.Hour), Until: At.Add(9 * time.Second), Zones: 8},
		{Name: "credential " + d.text("credentials.accounts.staging"), Replica: d.text("seawall-0"), Epoch: 1, Since: At.Add(-31 * time.Hour), Until: At.Add(9 * time.Second), This: true, Zones: 4},
		{Name: "tokens", Epoch: 2, Free: At.Add(-2 * time.Second)},
	}
	return r
}

// notable are the first zones that are not in sync, the most severe first.
func (d *Data) notable() (rows []inspect.Row) {
	outcomes := inspect.Outcomes()
	for i := len(outcomes) - 1; i > 0 && len(rows) < inspect.MostListed; i-- {
		f, _ := d.Fleet(inspect.FleetQuery{Outcomes: outcomes[i : i+1], Limit: 2})
		rows = append(rows, f.Zones...)
	}
	return rows[:min(len(rows), inspect.MostListed)]
}

func (d *Data) credentials(zones int) (all []inspect.Credential) {
	for i, account := range Accounts {
		c := inspect.Credential{
			Name: d.text("%s", account), Credential: "credentials.accounts." + account, Accounts: []string{d.text("%s", account)}, Zones: zones / len(Accounts),
			Observed: At.Add(-time.Duration(i+1) * time.Second), Due: 3 * i, Budget: inspect.Budget{Requests: 1100, PerSeconds: 300, Used: 400 * i, Left: 1100 - 400*i},
		}
		if account == "partners" {
			c.Down, c.Since, c.OldestDue = d.text("401 Unauthorized"), At.Add(-2*time.Hour), At.Add(-2*time.Hour)
		}
		all = append(all, c)
	}
	return all
}
