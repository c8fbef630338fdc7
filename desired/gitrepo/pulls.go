package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/integrity"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Pulls keeps the heads of pull requests, which anybody may have made: each by itself,
// without its history, in a store of its own that [Open] opens. Nothing that one of
// them holds can be in the way of another, or of the ref that is followed. What is known
// of a head goes by its commit: a head that was refused stays so until it moves.
//
//	pulls/0123…/  a store of one commit, or no more than why it was refused
type Pulls struct{ dir string }

// OpenPulls keeps heads below dir, which it creates if there is none. The folder is
// readable by its owner only.
func OpenPulls(dir string) (*Pulls, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return nil, storeError("creating", err)
	}
	return &Pulls{dir}, nil
}

// Pull is the head of a pull or merge request.
type Pull struct {
	Number int    `json:"number"`
	Ref    string `json:"ref"` // on the server: refs/pull/7/head
	Commit string `json:"commit"`
}

// List returns the pull requests that a repository shows, highest number first, and
// fetches nothing. Many servers keep the refs of closed ones; which are open is for the
// forge to say. Errors are those of [Repo.Fetch].
func (p *Pulls) List(ctx context.Context, s Source) ([]Pull, error) {
	job, err := (&Repo{p.dir}).newFetch(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	job.storage = openStorage(p.dir)
	refs, err := job.list(ctx)
	if err != nil {
		return nil, job.explain(ctx, err)
	}
	return pullsAmong(refs), nil
}

// The names under which GitHub, Gitea and Forgejo, and GitLab show heads.
var pullRef = lazyregexp.New(`^refs/(?:pull|merge-requests)/([1-9][0-9]{0,8})/head$`)

func pullsAmong(refs []*plumbing.Reference) []Pull {
	var pulls []Pull
	for _, ref := range refs {
		found := pullRef().FindStringSubmatch(ref.Name().String())
		if found == nil || ref.Type() != plumbing.HashReference {
			continue
		}
		number, _ := strconv.Atoi(found[1]) // at most nine digits
		pulls = append(pulls, Pull{number, ref.Name().String(), ref.Hash().String()})
	}
	slices.SortFunc(pulls, func(a, b Pull) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Ref, b.Ref))
	})
	return pulls
}

// Store is the folder of the store of a head, for [Open].
func (p *Pulls) Store(commit string) string { return filepath.Join(p.dir, filepath.Base(commit)) }

// Known reports whether a head is here, or why it was refused, with the same limits. It
// reads names, lengths and times of files, and nothing that a stranger made.
func (p *Pulls) Known(pull Pull, limits FetchLimits) (here bool, refused error) {
	if !plumbing.IsHash(pull.Commit) {
		return false, nil
	}
	store := p.Store(pull.Commit)
	if refused := recall(store, plumbing.NewHash(pull.Commit), limits.withDefaults(), nil); refused != nil {
		return false, refused
	}
	stamp, err := os.ReadFile(filepath.Join(store, stampFile))
	if err != nil {
		return false, nil //nolint:nilerr // it is fetched anew
	}
	now, err := integrity.Listing(store)
	return err == nil && string(stamp) == now, nil
}

// Fetch brings the head of one pull request, at the commit that the server has by now,
// which it returns. A head over a limit is remembered, for [Pulls.Known]. Errors are
// those of [Repo.Fetch].
func (p *Pulls) Fetch(ctx context.Context, s Source, pull Pull) (Pull, error) {
	if !pullRef().MatchString(pull.Ref) {
		return pull, badSource(fmt.Sprintf("%q is not the ref of a pull request", pull.Ref), "")
	}
	s.Ref = pull.Ref
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	dir, err := os.MkdirTemp(p.dir, freshGlob)
	if err != nil {
		return pull, storeError("preparing", err)
	}
	defer os.RemoveAll(dir)
	commit, err := p.fetchTo(ctx, dir, s)
	if err != nil {
		return pull, err
	}
	pull.Commit = commit.String()
	if err := p.keep(dir, pull.Commit); err != nil {
		return pull, storeError("filling", err)
	}
	return pull, nil
}

// fetchTo fetches into a new store, and returns the commit.
func (p *Pulls) fetchTo(ctx context.Context, dir string, s Source) (plumbing.Hash, error) {
	repo, err := Open(dir)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	job, err := repo.newFetch(s)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	job.storage = openStorage(dir)
	job.memory = func(commit plumbing.Hash) string { return p.Store(commit.String()) }
	commit, err := job.pull(ctx, job.storage, 1)
	if err != nil {
		err = job.explain(ctx, err)
		job.refuse(err)
		return plumbing.ZeroHash, err
	}
	return commit, repo.stamp()
}

// keep puts a new store in the place of a commit's.
func (p *Pulls) keep(dir, commit string) error {
	if err := os.RemoveAll(p.Store(commit)); err != nil {
		return err
	}
	return os.Rename(dir, p.Store(commit))
}

// freshGlob is the folder of a head while it is fetched.
const freshGlob = "new-*"

// KeepOnly removes the stores of all other commits, and what an earlier process has left
// behind. It removes nothing else: that is not Seawall's.
func (p *Pulls) KeepOnly(commits []string) error {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return storeError("tidying", err)
	}
	for _, e := range entries {
		if !isHeads(e.Name()) || slices.Contains(commits, e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storeError("tidying", err)
		}
	}
	return nil
}

// isHeads reports whether a name in the folder is one that this package gives. Earlier
// versions kept all heads in one store there.
func isHeads(name string) bool {
	return plumbing.IsHash(name) || like(name, freshGlob) || ofStore(name)
}

// Used is what the head of one commit takes on disk, in bytes.
func (p *Pulls) Used(commit string) int64 { return usedBytes(p.Store(commit)) }

// UsedBytes is what all heads take on disk.
func (p *Pulls) UsedBytes() int64 { return usedBytes(p.dir) }
