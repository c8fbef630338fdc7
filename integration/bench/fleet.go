//go:build linux

package main

import (
	"context"
	"path/filepath"

	"github.com/seawall-dev/seawall/integration/harness"
)

// fleet is the repository that declares the platform's zones, below one folder.
type fleet struct {
	dir   string
	zones int
	harness.WorkTree
}

const (
	// zonesPerFolder is how wide one folder of the repository is.
	zonesPerFolder = 100
	// lowest is the lowest threshold that the repository declares at first.
	lowest = 25
)

func newFleet(ctx context.Context, dir string, zones int) (f fleet, err error) {
	f = fleet{dir: dir, zones: zones}
	f.WorkTree, err = harness.NewWorkTree(ctx, filepath.Join(dir, "repository"), f.tree(lowest).Files())
	return f, err
}

func (f fleet) tree(lowest int) harness.Tree {
	return harness.TunedTree(f.zones, zonesPerFolder, lowest)
}

// push commits another threshold for the first zone.
func (f fleet) push(ctx context.Context, score int) error {
	tree := f.tree(lowest)
	first := f.tree(score - 1).Deployment(1)
	tree.Deployment = func(zone int) string {
		if zone == 1 {
			return first
		}
		return f.tree(lowest).Deployment(zone)
	}
	name, text := tree.Folder(1)
	return f.Commit(ctx, "change one zone", map[string]string{name: text})
}

// pushAll commits another threshold for every zone.
func (f fleet) pushAll(ctx context.Context) error {
	return f.Commit(ctx, "change all zones", f.tree(lowest+1).Files())
}
