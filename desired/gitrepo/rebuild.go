package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	git "github.com/go-git/go-git/v5"
)

// storeFiles are what a store is made of.
var storeFiles = []string{"HEAD", "config", "objects", "refs", "packed-refs", "shallow", stampFile, refusedFile}

// leftovers are what a process leaves behind in a store that is killed.
var leftovers = []string{refillGlob, damagedGlob}

// foreign returns the name of something in the folder that no store has; empty
// for none.
func foreign(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !ofStore(e.Name()) {
			return e.Name(), nil
		}
	}
	return "", nil
}

// ofStore reports whether a store may have a file of this name.
func ofStore(name string) bool {
	return name == lockFile || like(name, attemptGlob) || slices.Contains(storeFiles, name) || slices.ContainsFunc(leftovers, func(glob string) bool { return like(name, glob) })
}

// like reports whether a name is as a pattern says, which is well formed.
func like(name, glob string) bool {
	is, _ := filepath.Match(glob, name)
	return is
}

// rebuild fetches into a new store, and puts it in the place of the damaged one.
// That one stays where the source cannot be fetched: what is left of it may
// still serve. The caller holds the lock.
func (f *fetch) rebuild(ctx context.Context, why error) (Fetched, error) {
	if err := f.repo.mayReplace(why); err != nil {
		return Fetched{}, err
	}
	fresh, err := f.repo.beside()
	if err != nil {
		return Fetched{}, err
	}
	defer os.RemoveAll(fresh.dir)
	job := *f
	job.repo = fresh
	commit, err := job.fill(ctx)
	if err != nil {
		return Fetched{}, err
	}
	if err := job.keepGood(ctx, f.repo); err != nil {
		return Fetched{}, err
	}
	if err := f.repo.takeOver(fresh); err != nil {
		return Fetched{}, storeError("rebuilding", err)
	}
	return Fetched{commit.String(), true}, f.repo.stamp()
}

// mayReplace refuses to touch a folder in which there is anything but a store.
func (r *Repo) mayReplace(why error) error {
	name, err := foreign(r.dir)
	if err != nil {
		return storeError("reading", err)
	}
	if name == "" {
		return nil
	}
	return &Error{
		Kind: ErrStore, Doing: "rebuilding the store", Reason: fmt.Sprintf("%v, and %s contains %q, which does not belong to Seawall", why, r.dir, name),
		Hint: "move it, or delete the folder; the next fetch creates the store again",
	}
}

// beside makes an empty store in the folder of this one.
func (r *Repo) beside() (*Repo, error) {
	dir, err := os.MkdirTemp(r.dir, refillGlob)
	if err != nil {
		return nil, storeError("preparing", err)
	}
	if _, err := git.Init(openStorage(dir), nil); err != nil {
		return nil, errors.Join(storeError("preparing", err), os.RemoveAll(dir))
	}
	return &Repo{dir}, nil
}

// keepGood keeps the last good commit of another store where it is known here,
// or can be had from the source.
func (f *fetch) keepGood(ctx context.Context, from *Repo) error {
	text, err := os.ReadFile(filepath.Join(from.dir, filepath.FromSlash(refGood.String())))
	good := firstLine(string(text))
	if err != nil || !plumbing.IsHash(good) {
		return nil //nolint:nilerr // there is none, or it cannot be read: then the next accepted commit is one
	}
	hash, st := plumbing.NewHash(good), openStorage(f.repo.dir)
	if !complete(st, hash) {
		// Most servers hand out what their refs reach. Without it the commit is lost,
		// and the newest is all there is.
		_ = f.transfer(ctx, st, f.depth(), refSpec(good, refGood))
		st = openStorage(f.repo.dir)
	}
	if !complete(st, hash) {
		return nil
	}
	return f.repo.writeRef(refGood, hash)
}

// takeOver replaces this store's files by another's. A process that is killed
// in between leaves an empty store or a part of one, and the next fetch fills it.
func (r *Repo) takeOver(fresh *Repo) error {
	aside, err := os.MkdirTemp(r.dir, damagedGlob)
	if err != nil {
		return err
	}
	for _, move := range []struct{ from, to string }{{r.dir, aside}, {fresh.dir, r.dir}} {
		for _, name := range storeFiles {
			err := os.Rename(filepath.Join(move.from, name), filepath.Join(move.to, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	_ = os.RemoveAll(aside) // the next fetch tries again
	return nil
}

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
