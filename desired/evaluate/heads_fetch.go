package evaluate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge/retry"
)

// Heads are the heads of pull requests, each in a store of its own, apart from the
// followed branch. One worker lists them; each that is not here yet is fetched by a worker
// of its own, so that what someone pushes to one pull request stays with that one.
type Heads struct {
	HeadsConfig
	store     string
	remote    Remote
	evaluator Evaluator
	refused   *refusedHeads
}

// HeadsConfig is what [Heads] are made from. All of it is required.
type HeadsConfig struct {
	// Refs is how the names of the refs begin under which the forge itself shows heads,
	// such as "refs/pull/". Anybody who may push can create refs of other names.
	Refs     string
	Limits   gitrepo.FetchLimits // of one head; StoreBytes is that of all of them
	Timeout  time.Duration       // of the fetch of one head
	Log      *slog.Logger
	Observed func(refused int) // called with how many heads are refused, after each round
}

// refusedHeads are the heads that are not asked for, by commit: what a head is made of
// does not change. The store remembers those over a limit; here are those that have ended
// their worker, or took all of their time: they may do better later.
type refusedHeads struct {
	mu     sync.Mutex
	waits  map[string]waitingHead
	logged map[string]bool
}

type waitingHead struct {
	why   error
	until time.Time
}

// headBounds are those of a worker that fetches heads: their objects are smaller than
// those of the branch.
func headBounds(timeout time.Duration) worker.Limits {
	limits := FetchLimits(timeout)
	limits.AddressSpace = 2304 << 20
	return limits
}

// headsAtOnce is how many heads are fetched at the same time.
const headsAtOnce = 2

// NewHeads returns the heads of pull requests, in stores in a state folder.
func NewHeads(state string, remote Remote, c HeadsConfig, e Evaluator) Heads {
	e = e.besides()
	e.bounds = reviewBounds
	return Heads{HeadsConfig: c, store: filepath.Join(state, "pulls"), remote: remote, evaluator: e, refused: newRefusedHeads()}
}

func newRefusedHeads() *refusedHeads {
	return &refusedHeads{waits: map[string]waitingHead{}, logged: map[string]bool{}}
}

// Fetch returns the heads of these pull requests, and why each of the others has none.
func (h Heads) Fetch(ctx context.Context, numbers []int) (map[int]string, map[int]error, error) {
	if len(numbers) == 0 {
		return nil, nil, nil
	}
	source, err := h.remote.Source()
	if err != nil {
		return nil, nil, err
	}
	source.Limits = h.Limits
	listed, err := h.list(ctx, source, numbers)
	if err != nil {
		return nil, nil, err
	}
	round := &headsRound{Heads: h, source: source, found: map[int]string{}, failed: map[int]error{}, room: h.Limits.StoreBytes - listed.UsedBytes}
	err = round.run(ctx, listed.Heads)
	h.note(ctx, round.pulls, round.failed)
	return round.found, round.failed, err
}

func (h Heads) list(ctx context.Context, source gitrepo.Source, numbers []int) (listedPulls, error) {
	if _, err := gitrepo.OpenPulls(h.store); err != nil { // a worker may write below it, not beside it
		return listedPulls{}, err
	}
	return toListPulls.run(ctx, h.runner(h.remote.Timeout, source), listingPulls{h.store, source.Wire(), numbers, h.Refs})
}

// runner is for jobs that ask the server for heads.
func (h Heads) runner(timeout time.Duration, source gitrepo.Source) worker.Runner {
	return worker.Runner{Limits: headBounds(timeout), Room: h.evaluator.rooms.reviews, Env: fetchEnv, Sandbox: h.evaluator.confine.fetch(h.store, source)}
}

// headsRound brings the heads of one round.
type headsRound struct {
	Heads
	source gitrepo.Source

	mu     sync.Mutex
	found  map[int]string
	failed map[int]error
	pulls  []gitrepo.Pull
	room   int64 // what all heads may still take, in bytes
	silent int   // heads for which the server did not answer
}

// mostSilent is how many heads in one round may find the server silent: then it is the
// server, and no head.
const mostSilent = 2

// run brings the heads that are not here, those first that have made no trouble. Err is
// for a server that does not answer at all.
func (r *headsRound) run(ctx context.Context, listed []listedPull) error {
	var missing []gitrepo.Pull
	for _, p := range listed {
		r.pulls = append(r.pulls, p.Pull)
		waits := r.refused.still(p.Pull.Commit, time.Now())
		switch {
		case p.Here:
			r.found[p.Pull.Number] = p.Pull.Commit
		case p.Refused != nil:
			r.failed[p.Pull.Number] = p.Refused
		case waits != nil:
			r.failed[p.Pull.Number] = waits
		default:
			missing = append(missing, p.Pull)
		}
	}
	var group errgroup.Group
	group.SetLimit(headsAtOnce)
	for _, p := range missing {
		group.Go(func() error { return r.bring(ctx, p) })
	}
	if err := group.Wait(); err != nil && len(r.found) == 0 {
		return err
	}
	return context.Cause(ctx)
}

// bring fetches one head in a worker of its own.
func (r *headsRound) bring(ctx context.Context, pull gitrepo.Pull) error {
	if r.gaveUp() {
		r.fail(pull, errors.New("the git server does not answer"))
		return nil
	}
	source := r.source
	source.Timeout, source.Limits.RoomBytes = r.Timeout, r.reserve()
	answer, err := toFetchPull.run(ctx, r.runner(r.Timeout, source), fetchingPull{r.store, source.Wire(), pull})
	r.release(source.Limits.RoomBytes, answer.UsedBytes)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.found[pull.Number] = answer.Pull.Commit
		return nil
	}
	var bound *worker.BoundError
	if errors.As(err, &bound) {
		err = trippedError{fmt.Sprintf("fetching %s %s", pull.Ref, trippedOver(bound)), bound}
	}
	if bound != nil || answer.Later {
		r.refused.wait(pull.Commit, waitingHead{err, time.Now().Add(retry.Head.First)})
	}
	r.fail(pull, err)
	if errors.Is(err, gitrepo.ErrUnreachable) {
		return err
	}
	return nil
}

// trippedError says which bound ended a fetch.
type trippedError struct {
	text string
	*worker.BoundError
}

func (e trippedError) Error() string { return e.text }

// reserve takes what one head may use on disk from what all of them may.
func (r *headsRound) reserve() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := max(min(r.room, mostOfHead(r.Limits)), 1)
	r.room -= most
	return most
}

func (r *headsRound) release(reserved, used int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room += reserved - used
}

func (r *headsRound) fail(pull gitrepo.Pull, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[pull.Number] = err
	if errors.Is(err, gitrepo.ErrUnreachable) {
		r.silent++
	}
}

func (r *headsRound) gaveUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent >= mostSilent
}

// still is why a head is not asked for yet; nil where it is.
func (r *refusedHeads) still(commit string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, ok := r.waits[commit]; ok && now.Before(w.until) {
		return w.why
	}
	return nil
}

func (r *refusedHeads) wait(commit string, w waitingHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits[commit] = w
}

// among picks the heads that are refused of those that failed, with those of them that are
// new, and forgets all others.
func (r *refusedHeads) among(pulls []gitrepo.Pull, failed map[int]error) (refused int, fresh []gitrepo.Pull) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waits, logged := map[string]waitingHead{}, map[string]bool{}
	for _, p := range pulls {
		w, waiting := r.waits[p.Commit]
		if waiting {
			waits[p.Commit] = w
		}
		if err := failed[p.Number]; err == nil || !waiting && !errors.Is(err, gitrepo.ErrTooLarge) {
			continue
		}
		refused++
		if !r.logged[p.Commit] {
			fresh = append(fresh, p)
		}
		logged[p.Commit] = true
	}
	r.waits, r.logged = waits, logged
	return refused, fresh
}

// note logs each head that is refused, once.
func (h Heads) note(ctx context.Context, pulls []gitrepo.Pull, failed map[int]error) {
	refused, fresh := h.refused.among(pulls, failed)
	for _, p := range fresh {
		printed := ""
		if crash, ok := errors.AsType[trippedError](failed[p.Number]); ok {
			printed = crash.Printed()
		}
		h.Log.WarnContext(ctx, "the head of a pull request is refused; other pull requests are not affected",
			"number", p.Number, "commit", p.Commit, "error", failed[p.Number].Error(), "printed", printed)
	}
	h.Observed(refused)
}

// mostOfHead is what the store of one head may take: its pack, with its index.
func mostOfHead(l gitrepo.FetchLimits) int64 {
	const index = 64 // bytes for an object, and more than that
	return l.PackBytes + l.Objects*index
}
