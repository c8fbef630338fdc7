package gitrepo

import (
	"cmp"
	"context"
	"crypto/x509"
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

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/packbound"
	"github.com/seawall-dev/seawall/desired/gitrepo/internal/transfer"
)

// Fetched is what a fetch came to.
type Fetched struct {
	Commit  string // 40 hexadecimal digits
	Rebuilt bool   // the store was damaged, and was fetched anew
}

// Fetch brings the source's ref into the store and returns the commit it
// stands for. Nothing new is a success, and so is a ref that moved to a commit
// that does not follow the one before.
//
// It returns an [*Error] of the kinds [ErrSource], [ErrUnreachable],
// [ErrNotFound], [ErrAuth], [ErrHostKey], [ErrRefNotFound], [ErrFetch],
// [ErrTooLarge] or [ErrStore]. [Repo.Tidy] is to follow it. When ctx ends it returns at once, but what the
// library does without a context goes on, and holds the store, until its process
// ends: call Fetch in a worker.
//
// A local source runs the system's git-upload-pack with the environment of
// this process, another reason for a worker with a scrubbed one.
func (r *Repo) Fetch(ctx context.Context, s Source) (Fetched, error) {
	job, err := r.newFetch(s)
	if err != nil {
		return Fetched{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	fetched, err := until(ctx, job.run)
	if err != nil {
		err = job.explain(ctx, err)
	}
	return fetched, err
}

// until returns what a call comes to, and at once when ctx ends: the call may not heed it.
func until[T any](ctx context.Context, call func(context.Context) (T, error)) (result T, err error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := call(ctx)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// fetch is one fetch of one source into one store.
type fetch struct {
	repo    *Repo
	source  Source
	address address
	method  transport.AuthMethod
	roots   *x509.CertPool // nil for the system's
	limits  FetchLimits
	storage *filesystem.Storage
	tip     plumbing.Hash            // the commit that the server's ref stands for; zero until it is known
	raw     []byte                   // of a tip that was refused
	offered map[string]plumbing.Hash // all refs of the server; nil until they are known
	peeled  map[string]plumbing.Hash // what its annotated tags stand for
	// memory is the folder in which it is remembered that a commit was refused.
	memory func(commit plumbing.Hash) string
}

func (r *Repo) newFetch(s Source) (*fetch, error) {
	a, err := parseAddress(s)
	if err != nil {
		return nil, err
	}
	if err := checkRef(s.Ref); err != nil {
		return nil, err
	}
	m, err := s.method(a)
	if err != nil {
		return nil, err
	}
	roots, err := authorities(s.CA)
	if err != nil {
		return nil, err
	}
	return &fetch{repo: r, source: s, address: a, method: m, roots: roots, limits: s.Limits.withDefaults(), memory: func(plumbing.Hash) string { return r.dir }}, nil
}

// run fetches into a store that is sound, and makes one that is not anew.
func (f *fetch) run(ctx context.Context) (Fetched, error) {
	unlock, err := f.repo.lock()
	if err != nil {
		return Fetched{}, err
	}
	defer unlock()
	removeLeftovers(f.repo.dir)
	removeLoneIndexes(f.repo.dir)
	removeEmptyRefs(f.repo.dir)

	if err = f.repo.sound(); err == nil {
		commit, failed := f.fill(ctx)
		if errors.Is(failed, errStoreFull) && f.repo.makeRoom(f.limits.StoreBytes) {
			commit, failed = f.fill(ctx)
		}
		if failed == nil {
			forget(f.repo.dir)
			return Fetched{Commit: commit.String()}, f.repo.stamp()
		}
		if refused := f.refuse(failed); refused {
			return Fetched{Commit: f.tip.String()}, failed
		}
		if err = failed; mayBeDamage(ctx, failed) {
			err = cmp.Or(onlyDamage(f.repo.inspect()), failed)
		}
	}
	if !errors.Is(err, errDamaged) {
		return Fetched{}, err
	}
	return f.rebuild(ctx, err)
}

// refuse reports whether a fetch has failed for what its tip is, and notes that the tip
// is not to be asked for again. Where that cannot be noted, it is asked for again.
func (f *fetch) refuse(failed error) bool {
	var why *Error
	if !errors.As(failed, &why) || f.tip.IsZero() {
		return false
	}
	switch {
	case Later(failed):
		return true
	case why.Kind == ErrTooLarge, why.Kind == ErrUnsigned, why.Kind == ErrUntrusted:
		_ = remember(f.memory(f.tip), refusal{f.tip.String(), f.limits, *why, f.raw})
		return true
	}
	return why.Kind == ErrTrust
}

// advertised notes what the server has and what commit the ref stands for there, and refuses
// one that was refused before.
func (f *fetch) advertised(refs, peeled map[string]plumbing.Hash) error {
	f.offered, f.peeled = refs, peeled
	f.tip = refs[f.source.Ref]
	if commit, ok := peeled[f.source.Ref]; ok {
		f.tip = commit
	}
	return recall(f.memory(f.tip), f.tip, f.limits, f.accept())
}

// accept judges a tip, and keeps what it was of one that is refused.
func (f *fetch) accept() func(raw []byte) error {
	if f.source.Accept == nil {
		return nil
	}
	return func(raw []byte) error {
		err := f.source.Accept(raw)
		if err != nil {
			f.raw = raw
		}
		return err
	}
}

// judged is the tip for who reads the pack; nil where there is nothing to judge.
func (f *fetch) judged() *packbound.Tip {
	if f.source.Accept == nil || f.tip.IsZero() {
		return nil
	}
	return &packbound.Tip{Commit: f.tip, Accept: f.accept()}
}

// mayBeDamage reports whether a fetch failed in a way that a damaged store could
// be the reason of.
func mayBeDamage(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, ErrFull) {
		return false
	}
	return errors.Is(err, ErrStore) || errors.Is(err, ErrFetch) || errors.Is(err, errLeadsNowhere)
}

func onlyDamage(err error) error {
	if errors.Is(err, errDamaged) {
		return err
	}
	return nil
}

// fill brings the commit and all that goes with it. The caller holds the lock.
func (f *fetch) fill(ctx context.Context) (plumbing.Hash, error) {
	f.storage = openStorage(f.repo.dir)
	commit, err := f.bring(ctx)
	if err != nil {
		return plumbing.ZeroHash, f.explain(ctx, err)
	}
	f.tip = plumbing.ZeroHash // it is here: whatever fails from now on is not its fault
	if err := f.bringTags(ctx, commit); err != nil {
		return plumbing.ZeroHash, f.explain(ctx, err)
	}
	// The ref names the commit even where the source's ref is a tag: commits are
	// what the next fetch offers the server as known.
	if err := f.repo.writeRef(refFetched, commit); err != nil {
		return plumbing.ZeroHash, err
	}
	return commit, nil
}

// bring returns the commit after all of it has arrived.
func (f *fetch) bring(ctx context.Context) (plumbing.Hash, error) {
	cut, err := isShallow(f.storage)
	if err != nil {
		return plumbing.ZeroHash, storeError("reading", err)
	}
	if cut && !f.source.Shallow {
		return f.refill(ctx, 0)
	}
	commit, err := f.pull(ctx, f.storage, f.depth())
	if cut && (lacking(err) || err == nil && !complete(f.storage, commit)) {
		// The server took our cut history for a whole one and left out what the
		// commits beyond the cut hold. Beside a damaged copy a good one is of no use:
		// either may be read.
		if err := f.repo.inspectFiles(); err != nil {
			return plumbing.ZeroHash, err
		}
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

// pull fetches what the source follows into st, has its commit judged, and returns it.
func (f *fetch) pull(ctx context.Context, st *filesystem.Storage, depth int) (plumbing.Hash, error) {
	if err := f.transferWith(ctx, st, depth, transfer.Options{Advertised: f.advertised}, f.judged, refSpec(f.source.Ref, refFetched)); err != nil {
		return plumbing.ZeroHash, err
	}
	ref, err := st.Reference(refFetched)
	if err != nil {
		return plumbing.ZeroHash, storeError("reading", err)
	}
	commit, err := peel(st, ref.Hash())
	if err != nil {
		return plumbing.ZeroHash, &Error{
			Kind: ErrRefNotFound, Doing: f.address.doing(f.source.Ref), Reason: "it does not lead to a commit",
			Hint: "name a branch, or a tag of a commit", From: errLeadsNowhere,
		}
	}
	return commit.Hash, nil
}

// errLeadsNowhere is a ref whose commit is not in the store after it was fetched.
var errLeadsNowhere = errors.New("the ref does not lead to a commit")

// transfer fetches refs into st, each from exactly the name it is asked for by.
func (f *fetch) transfer(ctx context.Context, st *filesystem.Storage, depth int, specs ...config.RefSpec) error {
	return f.transferWith(ctx, st, depth, transfer.Options{}, func() *packbound.Tip { return nil }, specs...)
}

func (f *fetch) transferWith(ctx context.Context, st *filesystem.Storage, depth int, o transfer.Options, tip func() *packbound.Tip, specs ...config.RefSpec) error {
	o.Refs = []string{}
	for _, spec := range specs {
		o.Refs = append(o.Refs, spec.Src())
	}
	limits := f.limits.ofPack(f.limits.room(f.repo.dir))
	return f.talk(ctx, o, func(t *transfer.Transfer) error { //nolint:contextcheck // the transfer has a context of ctx, with its bounds
		err := f.remote(&boundedStorage{st, limits, tip, t.Refuse}).FetchContext(t.Context(), &git.FetchOptions{
			RefSpecs: specs, Depth: depth, Auth: t, Tags: git.NoTags, Force: true,
		})
		if errors.Is(err, git.NoErrAlreadyUpToDate) {
			return nil
		}
		return err
	})
}

// talk speaks with the source's server, and gives up where that falls silent.
func (f *fetch) talk(ctx context.Context, o transfer.Options, do func(*transfer.Transfer) error) error {
	o.Auth, o.Roots, o.Idle, o.Peer = f.method, f.roots, f.source.Idle, f.address.peer()
	return untilHeard(func() error {
		t := transfer.New(ctx, o)
		defer t.Close()
		err := do(t)
		if silence := t.Silence(); silence != nil && err != nil {
			return silence
		}
		return err
	})
}

func (f *fetch) remote(st storage.Storer) *git.Remote {
	return git.NewRemote(st, &config.RemoteConfig{Name: "origin", URLs: []string{f.address.url}})
}

// list returns the refs that the source has.
func (f *fetch) list(ctx context.Context) (refs []*plumbing.Reference, err error) {
	err = f.talk(ctx, transfer.Options{}, func(t *transfer.Transfer) error { //nolint:contextcheck // the transfer has a context of ctx, with its bounds
		refs, err = f.remote(f.storage).ListContext(t.Context(), &git.ListOptions{Auth: t})
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
func removeLeftovers(dir string) {
	for _, glob := range append([]string{partsGlob}, leftovers...) {
		names, _ := filepath.Glob(filepath.Join(dir, glob))
		for _, name := range names {
			_ = os.RemoveAll(name) // the next fetch tries again
		}
	}
}
