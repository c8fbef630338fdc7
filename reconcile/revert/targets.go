package revert

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// ofCommit are the writes of a commit without the drift that was healed under it: what a
// person had changed by hand is not to be brought back. Where drift was healed in what the
// commit had written, that only says once more what was written.
func ofCommit(writes []reconcile.Entry) []reconcile.Entry {
	begun := map[diff.ID]map[diff.Member]bool{}
	var kept []reconcile.Entry
	for _, e := range writes {
		id := e.Subject.ID()
		if begun[id] == nil {
			begun[id] = map[diff.Member]bool{}
		}
		if e.Trigger == reconcile.TriggerSweep {
			e.Members = slices.DeleteFunc(slices.Clone(e.Members), func(m reconcile.MemberChange) bool { return !begun[id][m.Path] })
		}
		for _, m := range e.Members {
			begun[id][m.Path] = true
		}
		if len(e.Members) > 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// targetsOf puts the writes of each deployment together: what was there before the first,
// and what the last has written. Zones that are not declared any more are problems.
func targetsOf(writes []reconcile.Entry, state desired.State) (targets []diff.Restoration, problems []diff.Problem) {
	accounts := map[edge.Scope]edge.AccountID{}
	for account, z := range state.EachZone() {
		accounts[z.Scope] = account.ID
	}
	at := map[diff.ID]int{}
	for _, e := range writes {
		i, known := at[e.Subject.ID()]
		if !known {
			i = len(targets)
			at[e.Subject.ID()] = i
			targets = append(targets, diff.Restoration{
				ID: e.Subject.ID(), Account: e.Subject.Account, AccountID: accounts[e.Subject.Scope], Zone: e.Subject.Zone, Deployment: e.Subject.Deployment,
			})
		}
		for _, m := range e.Members {
			targets[i].Members = compose(targets[i].Members, m)
		}
	}
	came := comings(writes)
	declared := targets[:0]
	for _, t := range targets {
		if e, is := came[t.ID.Scope]; is {
			problems = append(problems, notUndone(t, e))
			continue
		}
		t.Members = slices.DeleteFunc(t.Members, func(m diff.Restored) bool { return bytes.Equal(m.Before, m.Written) })
		switch _, is := accounts[t.ID.Scope]; {
		case !is:
			problems = append(problems, diff.Problem{
				Account: t.Account, Zone: t.Zone, Scope: t.ID.Scope, Kind: t.ID.Kind, Deployment: t.Deployment, State: diff.ChangedSince,
				Reason: fmt.Sprintf("commit %.12s, which is in force, does not declare the zone", state.Commit),
			})
		case len(t.Members) > 0:
			declared = append(declared, t)
		}
	}
	slices.SortStableFunc(problems, func(a, b diff.Problem) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Deployment, b.Deployment))
	})
	return declared, problems
}

// comings are the writes that have deployed or removed something for good, one for each zone.
func comings(writes []reconcile.Entry) map[edge.Scope]reconcile.Entry {
	zones := map[edge.Scope]reconcile.Entry{}
	for _, e := range writes {
		whole := e.Action == string(diff.ActionDeploy) || e.Action == string(diff.ActionRemove)
		if whole && !planner.PutsBack(e.Subject.ID()) {
			zones[e.Subject.Scope] = e
		}
	}
	return zones
}

// notUndone says that a deployment is not put back, because of a write that has deployed or
// removed something in its zone: git decides which deployments there are.
func notUndone(t diff.Restoration, because reconcile.Entry) diff.Problem {
	p := diff.Problem{
		Account: t.Account, Zone: t.Zone, Scope: t.ID.Scope, Kind: t.ID.Kind, Deployment: t.Deployment, State: diff.Blocked,
		Reason: "a revert does not remove what was deployed", Hint: "declare prune: true; then remove the deployment from the repository",
	}
	if because.Action == string(diff.ActionRemove) {
		p.Reason, p.Hint = "a revert does not deploy what was removed", "declare the deployment again, with deploy: true"
	}
	if because.Subject.ID() != t.ID {
		p.Reason = fmt.Sprintf("%s %q of the zone cannot be put back; a zone is put back only as a whole", because.Subject.ID().Word(because.Subject.Deployment), because.Subject.Deployment)
		p.Hint = ""
	}
	return p
}

// compose adds a later write of a member to those before it.
func compose(members []diff.Restored, m reconcile.MemberChange) []diff.Restored {
	i := slices.IndexFunc(members, func(r diff.Restored) bool { return r.Path == m.Path })
	if i < 0 {
		return append(members, diff.Restored{Path: m.Path, Before: m.Old, Written: m.New, Owned: m.Owned})
	}
	members[i].Written = m.New
	return members
}
