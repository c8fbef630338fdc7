package review

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/jobs"
)

// others are the replicas, this one among them: *[jobs.Replicas].
type others interface {
	jobs.Pokes
	Work(kind jobs.Kind, w jobs.Worker)
	Insert(ctx context.Context, j jobs.Job) error
	Note(ctx context.Context, subject, text string) error
	Noted(ctx context.Context, subject string) (string, error)
	Unnote(ctx context.Context, subject string) error
	Forget()
}

// What replicas tell each other of pull requests: "review/12" is its newest review, "unreviewed/12"
// why there is no newer one, "agreed/12" which review was approved, and "pulls" what is open.
const (
	wordReview     = "review"
	wordUnreviewed = "unreviewed"
	wordAgreed     = "agreed"
	wordPulls      = "pulls"
)

func about(word string, number int) string { return word + "/" + strconv.Itoa(number) }

// told is what replicas have told. It is safe for concurrent use.
type told struct {
	leads atomic.Bool // this one looks at pull requests
	poke  func()      // has it look

	mu      sync.Mutex
	reviews map[int]note
	agreed  map[int]string // the time of the review
	fresh   map[int]bool   // reviews that whoever leads has not taken note of
	asked   map[int]asked  // by this one, and not reviewed yet
}

type asked struct{ head, base string }

// note is a review as it is told.
type note struct {
	Head       string    `json:"head"`
	Base       string    `json:"base,omitempty"`
	At         time.Time `json:"at"`
	Verdict    string    `json:"verdict"`
	Summary    string    `json:"summary"`
	Text       string    `json:"text,omitempty"`
	Approvable []string  `json:"approvable,omitempty"`
	Waits      bool      `json:"waits,omitempty"`
	Unread     bool      `json:"unread,omitempty"`
}

// stamp is a time as it is compared.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// listing is what is open, as it is told.
type listing struct {
	At   time.Time             `json:"at"`
	Left int                   `json:"left,omitempty"`
	Open []inspect.PullRequest `json:"open"`
}

// join has the plans made by whichever replica is free. Poke has this one look at pull requests.
func (r *Reviews) join(o others, poke func()) {
	r.others, r.Trust.Accounts = o, sharedAccounts{o, r.Trust.Accounts}
	r.told = told{poke: poke, reviews: map[int]note{}, agreed: map[int]string{}, fresh: map[int]bool{}, asked: map[int]asked{}}
	o.Poked(wordReview, r.hearReview)
	o.Poked(wordUnreviewed, func(rest, why string) {
		if number, err := strconv.Atoi(rest); err == nil {
			r.pulls.failed(number, why)
		}
	})
	o.Poked(wordAgreed, func(rest, at string) {
		if number, err := strconv.Atoi(rest); err == nil {
			r.told.mu.Lock()
			defer r.told.mu.Unlock()
			r.told.agreed[number] = at
		}
	})
	o.Poked(wordPulls, func(_, text string) { r.hearListing(text) })
	o.Work(jobs.Plan, jobs.Worker{Do: (&working{Reviews: r, failing: map[int]string{}}).do, AtOnce: 1, Within: r.Timeout + finishWithin})
}

// lead begins to look at pull requests: all that was told is news.
func (r *Reviews) lead() (end func()) {
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	r.told.leads.Store(true)
	clear(r.shown)
	clear(r.told.asked)
	r.approvers.ids = nil // who led before may have found some
	for number := range r.told.reviews {
		r.told.fresh[number] = true
	}
	r.told.poke()
	return func() {
		r.told.leads.Store(false)
		r.others.Forget()
	}
}

// hearReview notes a review, and has this replica look again where it has asked for another one.
func (r *Reviews) hearReview(rest, text string) {
	number, err := strconv.Atoi(rest)
	var n note
	if err != nil || json.Unmarshal([]byte(text), &n) != nil {
		return
	}
	r.told.mu.Lock()
	r.told.reviews[number], r.told.fresh[number] = n, true
	wants, waits := r.told.asked[number]
	if !n.Unread { // else it is asked for again, and counts as one
		delete(r.told.asked, number)
	}
	r.told.mu.Unlock()
	r.pulls.update(number, n.show)
	if waits && !n.Unread && wants != (asked{n.Head, n.Base}) && r.told.leads.Load() {
		r.told.poke()
	}
}

func (n note) show(k *inspect.PullRequest) {
	k.Head, k.Verdict, k.Summary, k.Plan, k.ReviewedAt, k.Problem = n.Head, n.Verdict, n.Summary, n.Text, n.At, ""
}

// hearListing shows what is open as the replica that leads has told.
func (r *Reviews) hearListing(text string) {
	var b listing
	if r.told.leads.Load() || json.Unmarshal([]byte(text), &b) != nil {
		return
	}
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	open := map[int]bool{}
	for i, pull := range b.Open {
		open[pull.Number] = true
		if n, ok := r.told.reviews[pull.Number]; ok {
			n.show(&b.Open[i])
			b.Open[i].Problem = pull.Problem
		}
	}
	maps.DeleteFunc(r.told.reviews, func(number int, _ note) bool { return !open[number] })
	r.pulls.show(b)
}

// order has heads planned that are new. A failure stays in its pull request.
func (r *Reviews) order(ctx context.Context, open []reconcile.PullRequest, base desired.State) error {
	for _, pull := range open {
		ordering, span := trace.Start(ctx, trace.Review)
		span.Count(trace.Number, pull.Number)
		span.Text(trace.Commit, pull.Head)
		err := r.bounded(ordering, func(ctx context.Context) error { return r.ask(ctx, pull, base.Commit) })
		span.End(err)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.Failed(false)
			r.logFailure(ordering, pull.Number, err)
		}
	}
	text, err := json.Marshal(r.pulls.listing())
	if err == nil {
		err = r.others.Note(ctx, wordPulls, string(text))
	}
	if err != nil {
		return fmt.Errorf("telling other replicas: %w", err)
	}
	return nil
}

// learn takes note of reviews by other replicas.
func (r *Reviews) learn() {
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	for number := range r.told.fresh {
		n, ok := r.told.reviews[number]
		switch {
		case !ok:
		case n.Unread:
			delete(r.shown, number)
		default:
			r.shown[number] = shown{
				head: n.Head, base: n.Base, at: n.At, approvable: n.Approvable, waits: n.Waits, approved: r.told.agreed[number] == stamp(n.At),
			}
		}
	}
	clear(r.told.fresh)
}

// ask has a head planned, unless what was shown still holds.
func (r *Reviews) ask(ctx context.Context, pull reconcile.PullRequest, base string) error {
	if current, err := r.current(ctx, pull.Number, pull.Head, base); err != nil || current {
		return err
	}
	r.told.mu.Lock()
	before := r.told.asked[pull.Number]
	r.told.mu.Unlock()
	was, known := r.shown[pull.Number]
	if (!known || was.head != pull.Head) && before.head != pull.Head {
		if err := r.gate.mayPlan(ctx, pull); err != nil {
			return err
		}
	}
	r.told.mu.Lock()
	r.told.asked[pull.Number] = asked{pull.Head, base}
	r.told.mu.Unlock()
	job := jobs.Job{Kind: jobs.Plan, Number: pull.Number, Head: pull.Head, Fork: pull.Fork, Late: pull.Fork}
	if known {
		job.Known = was.at.UnixNano()
	}
	if err := r.others.Insert(ctx, job); err != nil {
		return fmt.Errorf("asking for its plan: %w", err)
	}
	return nil
}

// tellAgreed tells whether what was shown is approved.
func (r *Reviews) tellAgreed(ctx context.Context, number int, said shown) {
	if r.others == nil {
		return
	}
	at := ""
	if said.approved {
		at = stamp(said.at)
	}
	if err := r.others.Note(ctx, about(wordAgreed, number), at); err != nil {
		r.Log.Log(ctx, slog.LevelDebug, "other replicas do not know of an approval yet", "number", number, "error", err.Error())
	}
}

// unnote deletes what was told of a pull request that is closed.
func (r *Reviews) unnote(ctx context.Context, open []int) {
	r.told.mu.Lock()
	var closed []int
	for number := range r.told.reviews {
		if _, waits := r.shown[number]; !waits && !slices.Contains(open, number) {
			closed = append(closed, number)
			delete(r.told.reviews, number)
			delete(r.told.agreed, number)
			delete(r.told.asked, number)
		}
	}
	r.told.mu.Unlock()
	for _, number := range closed {
		for _, word := range []string{wordReview, wordUnreviewed, wordAgreed} {
			if err := r.others.Unnote(ctx, about(word, number)); err != nil {
				r.Log.DebugContext(ctx, "what replicas know of a closed pull request stays", "number", number, "error", err.Error())
			}
		}
	}
}
