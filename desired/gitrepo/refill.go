package gitrepo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	git "github.com/go-git/go-git/v5"
)

// refill fetches into a store of its own, as if nothing were known, and moves
// the packs over. Depth 0 brings the full history.
func (f *fetch) refill(ctx context.Context, depth int) (plumbing.Hash, error) {
	dir, err := os.MkdirTemp(f.repo.dir, refillGlob)
	if err != nil {
		return plumbing.ZeroHash, storeError("preparing", err)
	}
	defer os.RemoveAll(dir)
	fresh := openStorage(dir)
	if _, err := git.Init(fresh, nil); err != nil {
		return plumbing.ZeroHash, storeError("preparing", err)
	}
	commit, err := f.pull(ctx, fresh, depth)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := f.adopt(fresh, dir); err != nil {
		return plumbing.ZeroHash, storeError("filling", err)
	}
	return commit, nil
}

func (f *fetch) adopt(fresh *filesystem.Storage, dir string) error {
	packs, err := fresh.ObjectPacks()
	if err != nil {
		return err
	}
	for _, p := range packs {
		if err := f.copyPack(filepath.Join(dir, "objects", "pack", "pack-"+p.String()+".pack")); err != nil {
			return err
		}
	}
	cuts, err := fresh.Shallow()
	if err != nil {
		return err
	}
	f.storage = openStorage(f.repo.dir)
	return trimShallow(f.storage, cuts)
}

func (f *fetch) copyPack(name string) error {
	pack, err := os.Open(name)
	if err != nil {
		return err
	}
	defer pack.Close()
	return packfile.UpdateObjectStorage(f.storage, pack)
}

// complete reports whether every object of a commit's tree is in the store.
func (f *fetch) complete(commit plumbing.Hash) bool {
	c, err := object.GetCommit(f.storage, commit)
	if err != nil {
		return false
	}
	objects := newReach(f.storage)
	return objects.tree(c.TreeHash) == nil
}
