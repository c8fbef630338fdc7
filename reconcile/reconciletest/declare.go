// Package reconciletest is what the tests of the daemon's parts stand on: a fleet on a
// platform in memory whose answers may be tampered with, a repository, records that may fail,
// a clock, and declarations.
package reconciletest

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/mem"
)

// State declares zones of the fleet's account.
func State(commit string, zones ...desired.Zone) desired.State {
	return desired.State{Commit: commit, Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Zones: zones,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}, {Key: "credentials", ID: mem.CredentialsRuleset}},
	}}}
}

// ZoneKey is the name of a zone of the fleet.
func ZoneKey(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

// Zone declares a zone of the fleet.
func Zone(i int, deployments ...desired.Deployment) desired.Zone {
	return desired.Zone{Key: ZoneKey(i), Scope: mem.FleetZone(i), Deployments: deployments}
}

// Zones declares zones 1 to n alike.
func Zones(n int, d desired.Deployment) []desired.Zone {
	all := make([]desired.Zone, n)
	for i := range all {
		all[i] = Zone(i+1, d)
	}
	return all
}

// Core declares a deployment of the core ruleset that switches tags off.
func Core(tags ...string) desired.Deployment {
	d := desired.Deployment{
		Ruleset: "core", Enabled: desired.Declared[bool]{Value: true},
		Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 2},
	}
	for _, tag := range tags {
		d.Disable.Tags = append(d.Disable.Tags, desired.Declared[string]{Value: tag})
	}
	return d
}

// Keeping is a deployment that keeps what it does not manage.
func Keeping(d desired.Deployment) desired.Deployment { return deciding(d, desired.Keep) }

// Removing is a deployment that removes what it does not manage.
func Removing(d desired.Deployment) desired.Deployment { return deciding(d, desired.Remove) }

func deciding(d desired.Deployment, u desired.Unmanaged) desired.Deployment {
	d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: u}
	return d
}

// DeploymentID is the core deployment of a zone of the fleet.
func DeploymentID(i int) diff.DeploymentID {
	return diff.DeploymentID{Scope: mem.FleetZone(i), Ruleset: mem.CoreRuleset}
}
