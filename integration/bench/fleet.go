//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seawall-dev/seawall/integration/harness"
)

// fleet is the repository that declares the platform's zones, below one folder.
type fleet struct {
	dir      string
	zones    int
	accounts int
	harness.WorkTree
}

const (
	// zonesPerFolder is how wide one folder of the repository is.
	zonesPerFolder = 100
	// lowest is the lowest threshold that the repository declares at first.
	lowest = 25
)

func newFleet(ctx context.Context, dir string, zones, credentials int) (f fleet, err error) {
	f = fleet{dir: dir, zones: zones, accounts: max(1, credentials)}
	f.WorkTree, err = harness.NewWorkTree(ctx, filepath.Join(dir, "repository"), f.tree(lowest).Files())
	return f, err
}

func (f fleet) tree(lowest int) harness.Tree {
	tree := harness.TunedTree(f.zones, min(zonesPerFolder, (f.zones+f.accounts-1)/f.accounts), lowest)
	tree.Accounts = f.accounts
	return tree
}

// push commits other thresholds for the first zones, from a lowest one on.
func (f fleet) push(ctx context.Context, lowestNow, zones int) error {
	before, now := f.tree(lowest), f.tree(lowestNow)
	tree, files := before, map[string]string{}
	tree.Deployment = func(zone int) string {
		if zone <= zones {
			return now.Deployment(zone)
		}
		return before.Deployment(zone)
	}
	for zone := 1; zone <= zones; zone += tree.PerFolder {
		name, text := tree.Folder(zone)
		files[name] = text
	}
	return f.Commit(ctx, fmt.Sprintf("change %d zones", zones), files)
}
