package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// WorkTree is a working copy that a person has on this machine. It is only read.
type WorkTree struct {
	Folder string // the one that was asked for, in what is checked out, with "/"
	Git    string // with HEAD
	Common string // with the objects; Git, but for one of several working copies
}

// FindWorkTree finds the working copy that a folder is in; false where it is in none.
func FindWorkTree(dir string) (WorkTree, bool, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return WorkTree{}, false, err
	}
	for root := dir; ; root = filepath.Dir(root) {
		info, err := os.Stat(filepath.Join(root, ".git"))
		switch {
		case err == nil:
			w, err := workTreeAt(root, info)
			w.Folder = filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(dir, root), string(filepath.Separator)))
			return w, err == nil, err
		case !errors.Is(err, fs.ErrNotExist):
			return WorkTree{}, false, err
		case root == filepath.Dir(root):
			return WorkTree{}, false, nil
		}
	}
}

func workTreeAt(root string, info fs.FileInfo) (WorkTree, error) {
	w := WorkTree{Git: filepath.Join(root, ".git")}
	if !info.IsDir() {
		text, err := os.ReadFile(w.Git)
		if err != nil {
			return w, err
		}
		w.Git = from(root, strings.TrimPrefix(string(text), "gitdir:"))
	}
	w.Common = w.Git
	common, err := os.ReadFile(filepath.Join(w.Git, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	w.Common = from(w.Git, string(common))
	return w, err
}

// from is a path as a file in a folder has it.
func from(dir, path string) string {
	if path = strings.TrimSpace(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// LastChanges is [Repo.LastChanges] from the commit that is checked out. Before the first
// commit, all is uncommitted.
func (w WorkTree) LastChanges(ctx context.Context, texts map[string][]byte, regions []Region) ([]LastChange, error) {
	files := dotgit.NewRepositoryFilesystem(osfs.New(w.Git), osfs.New(w.Common))
	st := filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cacheSize), filesystem.Options{LargeObjectThreshold: largeObject})
	head, err := storer.ResolveReference(st, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		changes := make([]LastChange, len(regions))
		for i := range changes {
			changes[i].Uncommitted = true
		}
		return changes, nil
	}
	if err != nil {
		return nil, err
	}
	start, err := object.GetCommit(st, head.Hash())
	if err != nil {
		return nil, err
	}
	return lastChanges(ctx, st, start, texts, regions)
}
