package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/retry"
)

// Kind is what a job is about.
type Kind string

// The kinds.
const (
	Plan     Kind = "plan"     // of a pull request
	Delivery Kind = "delivery" // of a message to a route
)

// kinds say how a job that failed is tried again. Who inserts jobs inserts one that has failed too
// often anew.
var kinds = map[Kind]struct {
	policy   retry.Policy
	attempts int
}{
	Plan:     {retry.Review, retry.Review.Attempts},
	Delivery: {retry.Notification, 100},
}

// Job is what is to be done. It has no room for a secret, nor for a text that someone else has
// written. Of one kind, there is one job at a time for a Number and a Message.
type Job struct {
	Kind Kind `json:"-"`
	Late bool `json:"-"` // others come first

	Number int    `json:"number" river:"unique"` // of a pull request
	Head   string `json:"head,omitempty"`        // a commit
	Fork   bool   `json:"fork,omitempty"`
	Known  int64  `json:"known,omitempty"` // what was done of it before, and is outdated

	Message string `json:"message" river:"unique"` // its id
	Route   string `json:"route,omitempty"`
}

// subject is a job without what may be another one each time.
func (j Job) subject() Job { return Job{Kind: j.Kind, Number: j.Number, Message: j.Message} }

// args are a job as River keeps it.
type args struct{ Job }

// Kind implements [river.JobArgs].
func (a args) Kind() string { return string(a.Job.Kind) }

// Worker does the jobs of a kind.
type Worker struct {
	// Do does a job. The error of one that failed goes to the log of who did it; it is tried again,
	// here or elsewhere. [LaterError] does that without a failure.
	Do     func(ctx context.Context, j Job) error
	AtOnce int           // jobs at the same time, in this process
	Within time.Duration // that one takes at most: its context ends
}

// LaterError is the error of a job that is not to be done yet.
type LaterError time.Duration

func (l LaterError) Error() string { return "not before " + time.Duration(l).String() + " from now" }

// Work has jobs of a kind done here. To be called before Run.
func (r *Replicas) Work(kind Kind, w Worker) { r.workers[kind] = w }

var commitForm = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Insert has a job done once, by some replica. It takes the place of one about the same subject that
// says something else, and follows one that is being done: the latest of those that wait counts.
func (r *Replicas) Insert(ctx context.Context, j Job) error {
	if j.Head != "" && !commitForm().MatchString(j.Head) {
		return fmt.Errorf("%q is no commit", j.Head)
	}
	r.mu.Lock()
	delete(r.kept, j.subject())
	r.mu.Unlock()
	for range 2 {
		inserted, err := r.client.Insert(ctx, args{j}, options(j))
		if err != nil || !inserted.UniqueSkippedAsDuplicate || same(inserted.Job, j) {
			return err
		}
		if inserted.Job.State == rivertype.JobStateRunning {
			break
		}
		if _, err := r.client.JobCancel(ctx, inserted.Job.ID); err != nil && !errors.Is(err, river.ErrNotFound) {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[j.subject()] = j
	return nil
}

// InsertDelivery has a message sent once the transaction is committed.
func (r *Replicas) InsertDelivery(ctx context.Context, tx *sql.Tx, route, id string) error {
	j := Job{Kind: Delivery, Route: route, Message: id}
	_, err := r.client.InsertTx(ctx, tx, args{j}, options(j))
	return err
}

// insertKept inserts what waits for another job.
func (r *Replicas) insertKept(ctx context.Context) error {
	r.mu.Lock()
	kept := slices.Collect(maps.Values(r.kept))
	r.mu.Unlock()
	for _, j := range kept {
		if err := r.Insert(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// Forget drops what waits for another job: this process does not decide about it any more.
func (r *Replicas) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.kept)
}

// same reports whether a job that is there says the same.
func same(there *rivertype.JobRow, j Job) bool {
	was := Job{Kind: j.Kind, Late: j.Late}
	return json.Unmarshal(there.EncodedArgs, &was) == nil && was == j
}

// options: a job that has ended is no reason not to insert another one.
func options(j Job) *river.InsertOpts {
	o := &river.InsertOpts{Queue: string(j.Kind), MaxAttempts: kinds[j.Kind].attempts, Priority: 1}
	if j.Late {
		o.Priority = 2
	}
	o.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
	}}
	return o
}
