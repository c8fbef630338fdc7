// Package gitrepo keeps a local copy of the repository that says what should
// be, and hands out the files of a commit. It is the only place in Seawall
// that speaks git.
//
// A [Repo] is a bare store in a folder; there is never a work tree, so nothing
// a repository contains is ever written to disk under a name of its choosing:
//
//	repo, err := gitrepo.Open("/var/lib/seawall/git")
//	fetched, err := repo.Fetch(ctx, gitrepo.Source{URL: "https://git.example/edge.git", Ref: "refs/heads/main"})
//	files, err := repo.Tree(fetched.Commit, "edge", gitrepo.Limits{})
//	// … files is an fs.FS of the *.cue files; once they compile:
//	err = repo.SetGood(fetched.Commit)
//
// Fetching keeps the full history unless [Source.Shallow] is set; force pushes
// are followed, and [Repo.Move] tells them from ordinary commits. Errors
// are [*Error] values: what happened, and what a person may try. No error text
// carries a credential.
//
// [Repo.Verify] holds a commit, or a tag of it, against keys that the machine
// names; [Repo.Signer] says whose signature it is. [Pulls] is a store beside
// this one, for the heads of pull requests. [Repo.Push] sends one new commit as a branch
// that the server does not have; nothing else is ever pushed.
//
// A store that is damaged is rebuilt by the next fetch, under the lock; one that
// cannot be read, or written to a full disk, is left as it is.
//
// Neither a fetch nor the reading of a tree can be bounded from within the
// process: run both in a worker (package worker). Every method opens the store
// anew, so a Repo sees what another process fetched, and several processes
// may share one folder: writers take turns by a lock file.
package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/rogpeppe/go-internal/lockedfile"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/integrity"
)

// The references of the store. What they reach survives compaction.
const (
	refFetched plumbing.ReferenceName = "refs/seawall/fetched"
	refGood    plumbing.ReferenceName = "refs/seawall/good"
	// Below refTags are the annotated tags of the commit fetched last.
	refTags plumbing.ReferenceName = "refs/seawall/annotated/"
	// Below refOwn are all of them.
	refOwn = "refs/seawall/"
)

const (
	lockFile    = "seawall.lock"
	refillGlob  = "refill-*"
	damagedGlob = "damaged-*"
	cacheSize   = 32 * cache.MiByte
	// Objects above this size are read in pieces: a repository may hold a blob
	// that is far larger than its compressed form.
	largeObject = 1 << 20
)

// Repo is a bare store in a folder.
type Repo struct{ dir string }

// Open returns the store in dir, which it creates if there is none. The folder
// is readable by its owner only. A folder that holds something else is refused
// with [ErrStore].
func Open(dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, storeError("opening", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, storeError("creating", err)
	}
	r := &Repo{dir}
	unlock, err := r.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	return r, r.prepare()
}

// Reader returns the store in dir for reading alone: it makes nothing, and writes no file
// but [Suspects]. Where there is no store, each method fails.
func Reader(dir string) *Repo { return &Repo{dir} }

// prepare makes the store where there is none. It holds the lock, so that two
// processes starting at once do not both write it.
func (r *Repo) prepare() error {
	if err := os.Chmod(r.dir, 0o700); err != nil {
		return storeError("protecting", err)
	}
	_, err := git.Open(openStorage(r.dir), nil)
	if err == nil {
		err = checkHead(r.dir)
	}
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*Error](damageOr(err)); known {
		return storeError("opening", err)
	}
	// A crash between creation and HEAD leaves parts of a store behind; anything
	// else is someone's data.
	name, err := foreign(r.dir)
	switch {
	case err != nil:
		return storeError("opening", err)
	case name != "":
		return &Error{
			Kind: ErrStore, Doing: "opening the store",
			Reason: fmt.Sprintf("%s is neither empty nor a store: it contains %q", r.dir, name),
			Hint:   "use a separate folder for Seawall's copy of the repository",
		}
	}
	return r.init()
}

// checkHead: the library takes any text in HEAD for a commit's, other tools for
// the sign that this is no repository at all.
func checkHead(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err == nil && !strings.HasPrefix(string(text), "ref: refs/") {
		err = integrity.Damaged("HEAD cannot be read")
	}
	return err
}

// init makes what there is not yet of a store. Nothing of ours is in HEAD and
// config, so damaged ones are written anew.
func (r *Repo) init() error {
	for _, name := range []string{"HEAD", "config"} {
		if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
			return storeError("creating", err)
		}
	}
	if _, err := git.Init(openStorage(r.dir), nil); err != nil && !errors.Is(err, git.ErrRepositoryAlreadyExists) {
		return storeError("creating", err)
	}
	return nil
}

func openStorage(dir string) *filesystem.Storage { return storageWith(dir, filesystem.Options{}) }

func storageWith(dir string, o filesystem.Options) *filesystem.Storage {
	o.LargeObjectThreshold = largeObject
	return filesystem.NewStorageWithOptions(filesBelow(dir), cache.NewObjectLRU(cacheSize), o)
}

// lock waits for other writers of the store, in this process and in others.
// The operating system lets go of it when a process dies.
func (r *Repo) lock() (unlock func(), err error) {
	unlock, err = lockedfile.MutexAt(filepath.Join(r.dir, lockFile)).Lock()
	if err != nil {
		return nil, storeError("locking", err)
	}
	return unlock, nil
}

// peel follows annotated tags to the commit they stand for.
func peel(st *filesystem.Storage, hash plumbing.Hash) (*object.Commit, error) {
	return object.GetCommit(st, target(st, hash))
}

// target follows annotated tags to what they stand for.
func target(st *filesystem.Storage, hash plumbing.Hash) plumbing.Hash {
	const chain = 10 // a tag may tag a tag; nobody means more than this
	for range chain {
		tag, err := object.GetTag(st, hash)
		if err != nil {
			break
		}
		hash = tag.Target
	}
	return hash
}

// isFile reports whether a tree entry is a file with content of its own.
func isFile(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable || mode == filemode.Deprecated
}
