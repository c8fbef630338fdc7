package importer

import (
	"slices"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
)

// What is live when it is imported is to stay: an execute rule that someone deletes, or a
// whole entry point, is created again. That takes calls that only the profile "extended" has;
// with another nothing is promised.

// aboutDeploy is the comment about what is created again.
const aboutDeploy = "deploy: true creates a deployment again that someone deletes on the platform."

// NoDeploy says why no deployment is declared with deploy: true.
type NoDeploy string

// The reasons; there is none in the zero value.
const (
	NotAsked   NoDeploy = "--no-deploy"
	NotOffered NoDeploy = `the profile "documented" has no call for that`
	NotKnown   NoDeploy = "with --profile extended, deploy: true is declared"
)

// withDeploy declares of each deployment that it exists.
func withDeploy(accounts []imported) []imported {
	return eachDeployment(accounts, func(d *desired.Deployment) { d.Deploy = true })
}

// eachDeployment are accounts with a change of all that their zones run.
func eachDeployment(accounts []imported, change func(*desired.Deployment)) []imported {
	all := slices.Clone(accounts)
	for i, a := range all {
		all[i].Zones = slices.Clone(a.Zones)
		for j, z := range a.Zones {
			deployments := slices.Clone(z.Deployments)
			for k := range deployments {
				change(&deployments[k])
			}
			all[i].Zones[j].Deployments = deployments
		}
	}
	return all
}

// deployText says what becomes of a deployment that someone deletes; empty where nothing was
// imported, or where the command line said it.
func (r *result) deployText(why NoDeploy) string {
	n := 0
	for _, a := range r.accounts {
		for _, z := range a.Zones {
			n += len(z.Deployments)
		}
	}
	switch {
	case n == 0 || why == NotAsked:
		return ""
	case why == "":
		return "deploy: true is declared for " + cli.Plural(n, "deployment", "deployments") + ": Seawall creates one again that someone deletes (--no-deploy leaves it out)"
	}
	return "a deployment that someone deletes is reported, and not created again: " + string(why)
}
