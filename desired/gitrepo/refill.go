package gitrepo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// refill fetches into a store of its own, as if nothing were known, and moves
// the packs over. Depth 0 brings the full history.
func (f *fetch) refill(ctx context.Context, depth int) (plumbing.Hash, error) {
	beside, err := f.repo.beside()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer os.RemoveAll(beside.dir)
	fresh := openStorage(beside.dir)
	commit, err := f.pull(ctx, fresh, depth)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := f.adopt(fresh, beside.dir); err != nil {
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
		if err := f.movePack(dir, "pack-"+p.String()); err != nil {
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

// movePack moves a pack with its index; the index last, for it makes the pack known.
func (f *fetch) movePack(dir, name string) error {
	to := filepath.Join(f.repo.dir, "objects", "pack")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, suffix := range []string{".pack", ".idx"} {
		if err := os.Rename(filepath.Join(dir, "objects", "pack", name+suffix), filepath.Join(to, name+suffix)); err != nil {
			return err
		}
	}
	return nil
}
