package setup

import (
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/lease"
)

// LeaseNames are the leases on all work of the configuration, sorted.
func LeaseNames(lanes reconcile.Lanes) []reconcile.LeaseName {
	names := []reconcile.LeaseName{reconcile.LeaseCommits, reconcile.LeaseTokens}
	for _, lane := range lanes.All {
		names = append(names, reconcile.LeaseOf(lane))
	}
	slices.Sort(names)
	return names
}

// ReplicasIn says which replicas run, and which of them does what, by a look at the database; this is
// the name of the one that asks, empty for none. A lease that no replica has counts only where it is
// one of names: work that was configured once is on record for ever.
func ReplicasIn(look lease.Look, this string, names []reconcile.LeaseName) inspect.Replicas {
	shown := inspect.Replicas{Name: this, Replicas: []inspect.Replica{}, Leases: []inspect.Lease{}}
	has := map[string]int{}
	for _, l := range look.Leases {
		one := inspect.Lease{Name: string(l.Name), Epoch: l.Epoch}
		switch {
		case !l.Free:
			one.Replica, one.Since, one.Until, one.This = l.Replica, l.Since.UTC(), l.ExpiresAt.UTC(), l.Replica == this
			has[l.Replica]++
		case slices.Contains(names, l.Name):
			one.Free = l.ExpiresAt.UTC()
		default:
			continue
		}
		shown.Leases = append(shown.Leases, one)
	}
	for _, r := range look.Replicas {
		if r.Live {
			shown.Replicas = append(shown.Replicas, inspect.Replica{
				Name: r.Name, Program: r.Version, Started: r.StartedAt.UTC(), Alive: r.ExpiresAt.UTC(), This: r.Name == this, Leases: has[r.Name],
			})
		}
	}
	return shown
}
