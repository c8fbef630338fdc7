package gitrepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"

	git "github.com/go-git/go-git/v5"
)

// Fetch brings the source's ref into the store and returns the commit it
// stands for, 40 hexadecimal digits. Nothing new is a success, and so is a ref
// that moved to a commit that does not follow the one before.
//
// It returns an [*Error] of the kinds [ErrSource], [ErrUnreachable],
// [ErrNotFound], [ErrAuth], [ErrHostKey], [ErrRefNotFound], [ErrFetch] or
// [ErrStore]. When ctx ends it returns at once, but an SSH handshake that hangs
// goes on, and holds the store, until its process ends: call Fetch in a worker.
//
// A local source runs the system's git-upload-pack with the environment of
// this process, another reason for a worker with a scrubbed one.
func (r *Repo) Fetch(ctx context.Context, s Source) (hash string, err error) {
	job, err := r.newFetch(s)
	if err != nil {
		return "", err
	}
	type outcome struct {
		hash string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		hash, err := job.run(ctx)
		done <- outcome{hash, err}
	}()
	select {
	case o := <-done:
		return o.hash, o.err
	case <-ctx.Done():
		return "", job.explain(ctx.Err())
	}
}

// fetch is one fetch of one source into one store.
type fetch struct {
	repo    *Repo
	source  Source
	address address
	method  transport.AuthMethod
	storage *filesystem.Storage
}

func (r *Repo) newFetch(s Source) (*fetch, error) {
	a, err := parseAddress(s)
	if err != nil {
		return nil, err
	}
	if err := checkRef(s.Ref); err != nil {
		return nil, err
	}
	m, err := s.method(a, r.dir)
	if err != nil {
		return nil, err
	}
	return &fetch{repo: r, source: s, address: a, method: m}, nil
}

func (f *fetch) run(ctx context.Context) (hash string, err error) {
	unlock, err := f.repo.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	f.repo.removeLeftovers()
	f.repo.removeEmptyRefs()
	f.storage = openStorage(f.repo.dir)

	commit, err := f.bring(ctx)
	if err != nil {
		return "", f.explain(err)
	}
	if err := f.bringTags(ctx, commit); err != nil {
		return "", f.explain(err)
	}
	// The ref names the commit even where the source's ref is a tag: commits are
	// what the next fetch offers the server as known.
	if err := f.repo.writeRef(refFetched, commit); err != nil {
		return "", err
	}
	return commit.String(), f.repo.compactIfFull()
}

// bring returns the commit after all of it has arrived.
func (f *fetch) bring(ctx context.Context) (plumbing.Hash, error) {
	cut, err := isShallow(f.storage)
	if err != nil {
		return plumbing.ZeroHash, storeError("reading", err)
	}
	if f.pinned() && (!cut || f.source.Shallow) && f.complete(plumbing.NewHash(f.source.Ref)) {
		return plumbing.NewHash(f.source.Ref), nil // a commit never changes
	}
	if cut && !f.source.Shallow {
		return f.refill(ctx, 0)
	}
	commit, err := f.pull(ctx, f.storage, f.depth())
	if cut && (lacking(err) || err == nil && !f.complete(commit)) {
		// The server took our cut history for a whole one and left out what the
		// commits beyond the cut hold.
		return f.refill(ctx, 1)
	}
	return commit, err
}

// lacking reports whether a fetch failed for objects that never came.
func lacking(err error) bool {
	return errors.Is(err, packfile.ErrEmptyPackfile) || errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrRefNotFound)
}

// depth is 1 for the first fetch of a shallow source only: go-git downloads
// the whole tree again at each fetch of depth 1.
func (f *fetch) depth() int {
	if _, err := f.storage.Reference(refFetched); err != nil && f.source.Shallow {
		return 1
	}
	return 0
}

func (f *fetch) pinned() bool { return plumbing.IsHash(f.source.Ref) && len(f.source.Ref) == 40 }

// pull fetches into st and returns the commit.
func (f *fetch) pull(ctx context.Context, st *filesystem.Storage, depth int) (plumbing.Hash, error) {
	var err error
	for _, name := range candidates(f.source.Ref) {
		spec := config.RefSpec("+" + name + ":" + string(refFetched))
		if err = f.transfer(ctx, st, depth, spec); !errors.Is(err, git.NoMatchingRefSpecError{}) {
			break
		}
	}
	if errors.Is(err, git.ErrExactSHA1NotSupported) {
		return f.search(ctx, st)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	ref, err := st.Reference(refFetched)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return f.commit(st, ref.Hash())
}

// search fetches every branch and tag, for a server that does not hand out
// commits by hash, and looks for the commit among them.
func (f *fetch) search(ctx context.Context, st *filesystem.Storage) (plumbing.Hash, error) {
	err := f.transfer(ctx, st, 0, "+refs/heads/*:refs/seawall/heads/*", "+refs/tags/*:refs/seawall/tags/*")
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return f.commit(st, plumbing.NewHash(f.source.Ref))
}

func (f *fetch) commit(st *filesystem.Storage, hash plumbing.Hash) (plumbing.Hash, error) {
	commit, err := peel(st, hash)
	if err != nil {
		return plumbing.ZeroHash, &Error{
			Kind: ErrRefNotFound, Doing: f.address.doing(f.source.Ref), Reason: "it does not lead to a commit",
			Hint: "name a branch, a tag of a commit, or a commit that a branch or tag contains",
		}
	}
	return commit.Hash, nil
}

func (f *fetch) transfer(ctx context.Context, st storage.Storer, depth int, specs ...config.RefSpec) error {
	remote := f.remote(st)
	return untilHeard(func() error {
		err := remote.FetchContext(ctx, &git.FetchOptions{
			RefSpecs: specs, Depth: depth, Auth: f.method, Tags: git.NoTags, Force: true,
			Prune: strings.Contains(string(specs[0]), "*"),
		})
		if errors.Is(err, git.NoErrAlreadyUpToDate) {
			return nil
		}
		return err
	})
}

func (f *fetch) remote(st storage.Storer) *git.Remote {
	return git.NewRemote(st, &config.RemoteConfig{Name: "origin", URLs: []string{f.address.url}})
}

// list returns the refs that the source has; those named NAME^{} are what
// annotated tags stand for.
func (f *fetch) list(ctx context.Context) (refs []*plumbing.Reference, err error) {
	remote := f.remote(f.storage)
	err = untilHeard(func() error {
		refs, err = remote.ListContext(ctx, &git.ListOptions{Auth: f.method, PeelingOption: git.AppendPeeled})
		return err
	})
	return refs, err
}

// untilHeard tries again what was outrun.
func untilHeard(do func() error) error {
	for try := 1; ; try++ {
		if err := do(); !outrun(err) || try >= maxTries {
			return err
		}
	}
}

// maxTries bounds the tries of a fetch that was outrun.
const maxTries = 3

// outrun reports whether an SSH server had answered and hung up before go-git
// came to close its own end, which go-git takes for a failure. It happens near
// the server, on a busy machine, and go-git has no error value for it.
func outrun(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "closing input: EOF")
}

// removeLeftovers deletes what a killed fetch left behind. It runs under the
// lock, so nobody else is writing these.
func (r *Repo) removeLeftovers() {
	for _, glob := range []string{refillGlob, knownHostsGlob, "objects/pack/tmp_*"} {
		names, _ := filepath.Glob(filepath.Join(r.dir, glob))
		for _, name := range names {
			_ = os.RemoveAll(name) // the next fetch tries again
		}
	}
}
