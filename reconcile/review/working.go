package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

const (
	// finishWithin is what a job may take beside the time of its pull request.
	finishWithin = 10 * time.Second
	// followAgain is how soon a job is tried again by a replica that has not taken note yet of the
	// commit in force, or on another one.
	followAgain = time.Second
	// partsAgain is how soon one is gone on with that is read in parts.
	partsAgain = 20 * time.Second
)

// working makes plans that some replica has asked for, one at a time. Of the reviews it uses what
// does not belong to who leads.
type working struct {
	*Reviews
	failing map[int]string // why a pull request was not reviewed by the last job
}

// errNoHead says that git does not show yet what the forge has.
var errNoHead = errors.New("git does not have it yet")

// do makes a plan, shows it on the forge, and tells the replicas.
func (w *working) do(ctx context.Context, j jobs.Job) error {
	err := w.bounded(ctx, func(ctx context.Context) error { return w.carryOut(ctx, j) })
	old := w.Now().Add(-planAgain)
	maps.DeleteFunc(w.parts, func(_ int, p part) bool { return p.since.Before(old) }) // of one that is closed
	w.dropKept()
	if _, later := errors.AsType[jobs.LaterError](err); later || ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return err
	}
	if err == nil {
		delete(w.failing, j.Number)
		return nil
	}
	if told := w.others.Note(ctx, about(wordUnreviewed, j.Number), clean(err.Error())); told != nil {
		w.Log.DebugContext(ctx, "other replicas do not know why a pull request was not reviewed", "number", j.Number, "error", told.Error())
	}
	if errors.Is(err, errInParts) {
		return jobs.LaterError(partsAgain)
	}
	w.Failed(false)
	level, cause := slog.LevelWarn, outage.Cause(err)
	if w.failing[j.Number] == cause {
		level = slog.LevelDebug
	}
	w.failing[j.Number] = cause
	w.Log.Log(ctx, level, "a pull request was not reviewed", "number", j.Number, "error", err.Error())
	return err
}

func (w *working) carryOut(ctx context.Context, j jobs.Job) error {
	base, ok := w.Base()
	if !ok {
		return jobs.LaterError(followAgain)
	}
	record, err := w.Records.Restore(ctx)
	if err != nil {
		return fmt.Errorf("recalling earlier runs: %w", err)
	}
	if record.Accepted.Commit != base.Commit {
		return jobs.LaterError(followAgain)
	}
	heads, failed, err := w.Heads.Fetch(ctx, []int{j.Number})
	if err != nil {
		w.Outages.Failed(reconcile.OutageGit, "", "pull requests", err)
		return fmt.Errorf("fetching pull requests: %w", err)
	}
	w.Outages.Worked(reconcile.OutageGit, "", "pull requests")
	pull := reconcile.PullRequest{Number: j.Number, Head: j.Head, Fork: j.Fork}
	head := heads[j.Number]
	switch {
	case head == "" && failed[j.Number] == nil:
		return errNoHead
	case head == "":
		if err := w.unread(ctx, pull, failed[j.Number]); err != nil {
			return err
		}
		return w.tell(ctx, j.Number, note{Head: j.Head, At: w.Now(), Verdict: string(reconcile.StatusFailure), Summary: unreadable, Text: refusedComment(failed[j.Number]), Unread: true})
	}
	done, err := w.done(ctx, j, head, base.Commit)
	if err != nil || done {
		return err
	}
	said, _, err := w.look(ctx, pull, head, base)
	if err != nil {
		return err
	}
	approvable, err := w.publish(ctx, pull, said)
	if err != nil {
		return err
	}
	text, _ := said.comment(pull)
	return w.tell(ctx, j.Number, note{
		Head: head, Base: base.Commit, At: w.Now(), Verdict: string(said.status().State), Summary: clean(said.status().Description),
		Text: shownText(text), Approvable: approvable, Waits: said.waits(),
	})
}

// done reports whether a job was done already: River may have it done twice. Where git shows what
// was planned, and the forge has another head, git is behind.
func (w *working) done(ctx context.Context, j jobs.Job, head, base string) (bool, error) {
	text, err := w.others.Noted(ctx, about(wordReview, j.Number))
	if err != nil {
		return false, fmt.Errorf("asking what was planned before: %w", err)
	}
	var last note
	if text == "" || json.Unmarshal([]byte(text), &last) != nil {
		return false, nil //nolint:nilerr // what cannot be read is done again
	}
	if last.Unread || last.Head != head || last.Base != base || w.Now().Sub(last.At) >= planAgain {
		return false, nil
	}
	if head != j.Head {
		return false, errNoHead
	}
	return last.At.UnixNano() != j.Known, nil
}

func (w *working) tell(ctx context.Context, number int, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return w.others.Note(ctx, about(wordReview, number), string(text))
}
