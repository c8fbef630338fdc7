package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/packbound"
)

// Pulls keeps the heads of pull requests, which anybody may have made, in a
// store of their own: they are fetched without history, which would cut that of
// a store that follows a ref, and their objects never stand beside the
// ones that are acted on. [Open] with the same folder hands out their trees.
type Pulls struct{ repo *Repo }

// OpenPulls returns the store in dir, as [Open] does.
func OpenPulls(dir string) (*Pulls, error) {
	repo, err := Open(dir)
	if err != nil {
		return nil, err
	}
	return &Pulls{repo}, nil
}

// Pull is the head of a pull or merge request.
type Pull struct {
	Number int    `json:"number"`
	Ref    string `json:"ref"` // on the server: refs/pull/7/head
	Commit string `json:"commit"`
}

// PullLimits bound what is fetched. A zero field takes its default.
type PullLimits struct {
	Newest    int   // pull requests, those of the highest numbers; 50
	PackBytes int64 // sent for one of them, compressed; 64 MiB
	// What one of them unpacks to: objects, bytes of one object, and bytes of all
	// of them together; 1,000,000, 128 MiB and 1 GiB.
	Objects       int64
	ObjectBytes   int64
	InflatedBytes int64
}

func (l PullLimits) withDefaults() PullLimits {
	return PullLimits{
		Newest: cmp.Or(l.Newest, 50), PackBytes: cmp.Or(l.PackBytes, 64<<20),
		Objects: cmp.Or(l.Objects, 1_000_000), ObjectBytes: cmp.Or(l.ObjectBytes, 128<<20), InflatedBytes: cmp.Or(l.InflatedBytes, 1<<30),
	}
}

func (l PullLimits) ofPack() packbound.Limits {
	return packbound.Limits{PackBytes: l.PackBytes, Objects: l.Objects, ObjectBytes: l.ObjectBytes, InflatedBytes: l.InflatedBytes}
}

// List returns the newest pull requests of a repository, highest number first,
// and fetches nothing. Many servers keep the refs of closed ones; which are
// open is for the forge to say. Errors are those of [Repo.Fetch].
func (p *Pulls) List(ctx context.Context, s Source, limits PullLimits) ([]Pull, error) {
	job, err := p.repo.newFetch(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	job.storage = openStorage(p.repo.dir)
	refs, err := job.list(ctx)
	if err != nil {
		return nil, job.explain(ctx, err)
	}
	pulls := pullsAmong(refs)
	return pulls[:min(len(pulls), limits.withDefaults().Newest)], nil
}

// The names under which GitHub, Gitea and Forgejo, and GitLab show heads.
var pullRef = regexp.MustCompile(`^refs/(?:pull|merge-requests)/([1-9][0-9]{0,8})/head$`)

func pullsAmong(refs []*plumbing.Reference) []Pull {
	var pulls []Pull
	for _, ref := range refs {
		found := pullRef.FindStringSubmatch(ref.Name().String())
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

// PullError is a pull request that was not fetched; the others were.
type PullError struct {
	Pull Pull   `json:"pull"`
	Err  *Error `json:"error"`
}

// Fetch makes these pull requests the ones that are kept: it brings the commits
// that are not here yet, each by itself, and forgets all others. It returns
// those that are here, at the commit that the server has by now, and
// those that could not be brought: one that is over a limit, or gone, stops
// none of the others; a server that falls silent stops all of them. A store that
// is damaged is emptied and filled anew.
func (p *Pulls) Fetch(ctx context.Context, s Source, pulls []Pull, limits PullLimits) (here []Pull, failed []PullError, err error) {
	limits = limits.withDefaults()
	if len(pulls) > limits.Newest {
		return nil, nil, badSource(fmt.Sprintf("%d pull requests are more than the bound of %d", len(pulls), limits.Newest), "")
	}
	unlock, err := p.repo.lock()
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	removeLeftovers(p.repo.dir)
	removeEmptyRefs(p.repo.dir)
	if err := p.mend(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	here, failed, err = p.fetchAll(ctx, s, pulls, limits)
	if err == nil && slices.ContainsFunc(failed, func(e PullError) bool { return mayBeDamage(e.Err) }) {
		if damage := onlyDamage(p.repo.inspectFiles()); damage != nil {
			if err := p.repo.reset(damage); err != nil {
				return nil, nil, err
			}
			here, failed, err = p.fetchAll(ctx, s, pulls, limits)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if err := p.tidy(limits); err != nil {
		p.repo.suspect()
		return here, failed, err
	}
	return here, failed, p.repo.stamp()
}

// fetchAll fetches into a store that is sound.
func (p *Pulls) fetchAll(ctx context.Context, s Source, pulls []Pull, limits PullLimits) (here []Pull, failed []PullError, err error) {
	if err := p.keepOnly(pulls); err != nil {
		return nil, nil, err
	}
	for _, pull := range pulls {
		got, err := p.fetch(ctx, s, pull, limits)
		if ctx.Err() != nil || errors.Is(err, errSilent) || errors.Is(err, ErrFull) {
			return nil, nil, err
		}
		if err != nil {
			removeLeftovers(p.repo.dir) // the part of a pack that came before its bound
			failed = append(failed, PullError{pull, asError(err)})
			continue
		}
		here = append(here, got)
	}
	return here, failed, nil
}

// mend empties a store that is damaged.
func (p *Pulls) mend() error {
	err := p.repo.sound()
	if errors.Is(err, errDamaged) {
		return p.repo.reset(err)
	}
	return err
}

// tidy drops what no kept pull request needs once it has become much: anybody
// may open pull requests, and push to them again and again.
func (p *Pulls) tidy(limits PullLimits) error {
	files, err := filepath.Glob(filepath.Join(p.repo.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return storeError("tidying", err)
	}
	var used int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return storeError("tidying", err)
		}
		used += info.Size()
	}
	if used <= keptPacks*limits.PackBytes {
		return p.repo.compactIfFull()
	}
	st := openStorage(p.repo.dir)
	packs, err := st.ObjectPacks()
	if err == nil {
		err = p.repo.compact(st, packs)
	}
	if err != nil {
		return storeError("tidying", err)
	}
	return nil
}

// keptPacks is how many packs of the largest allowed size may lie about.
const keptPacks = 4

// fetch brings one pull request's head, without its history.
func (p *Pulls) fetch(ctx context.Context, s Source, pull Pull, limits PullLimits) (Pull, error) {
	s.Ref = pull.Ref
	if !pullRef.MatchString(pull.Ref) {
		return pull, badSource(fmt.Sprintf("%q is not the ref of a pull request", pull.Ref), "")
	}
	job, err := p.repo.newFetch(s)
	if err != nil {
		return pull, err
	}
	job.storage, job.limits = openStorage(p.repo.dir), limits.ofPack()
	if plumbing.IsHash(pull.Commit) && complete(job.storage, plumbing.NewHash(pull.Commit)) {
		return pull, p.repo.writeRef(keptPull(pull), plumbing.NewHash(pull.Commit))
	}
	if err := job.transfer(ctx, job.storage, 1, refSpec(pull.Ref, keptPull(pull))); err != nil {
		return pull, job.explain(ctx, err)
	}
	ref, err := job.storage.Reference(keptPull(pull))
	if err != nil {
		return pull, storeError("reading", err)
	}
	commit, err := job.commit(job.storage, ref.Hash())
	if err != nil {
		return pull, err
	}
	pull.Commit = commit.String()
	return pull, nil
}

func asError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: ErrFetch, Doing: "fetching a pull request", Reason: err.Error()}
	}
	return e
}

// refPulls are the store's refs of pull requests.
const refPulls = "refs/seawall/pulls/"

// keptPull is our own ref for a pull request: pull-7, merge-requests-7.
func keptPull(p Pull) plumbing.ReferenceName {
	name := strings.TrimSuffix(strings.TrimPrefix(p.Ref, "refs/"), "/head")
	return plumbing.ReferenceName(refPulls + strings.ReplaceAll(name, "/", "-"))
}

// keepOnly forgets pull requests that are not among these.
func (p *Pulls) keepOnly(pulls []Pull) error {
	st := openStorage(p.repo.dir)
	known, err := refsBelow(st, refPulls)
	if err != nil {
		return err
	}
	for _, ref := range known {
		if slices.ContainsFunc(pulls, func(pull Pull) bool { return keptPull(pull) == ref.Name() }) {
			continue
		}
		if err := st.RemoveReference(ref.Name()); err != nil {
			return storeError("tidying", err)
		}
	}
	return nil
}

// refsBelow lists the store's refs of one kind.
func refsBelow(st *filesystem.Storage, prefix string) (below []*plumbing.Reference, err error) {
	refs, err := st.IterReferences()
	if err != nil {
		return nil, storeError("reading", err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if strings.HasPrefix(ref.Name().String(), prefix) {
			below = append(below, ref)
		}
		return nil
	})
	return below, err
}
