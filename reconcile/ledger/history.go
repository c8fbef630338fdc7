package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

var (
	_ reconcile.History      = (*Ledger)(nil)
	_ reconcile.HistoryPages = (*Ledger)(nil)
)

// Unfinished implements [reconcile.Records].
func (l *Ledger) Unfinished(ctx context.Context) ([]reconcile.Entry, error) {
	return store.Read(ctx, l.file, history.Unfinished)
}

// WrittenByCommands implements [reconcile.Records].
func (l *Ledger) WrittenByCommands(ctx context.Context, after int64) ([]edge.Scope, error) {
	return store.Read(ctx, l.file, func(ctx context.Context, tx *sql.Tx) ([]edge.Scope, error) {
		if newest, err := history.Newest(ctx, tx); err != nil || !l.file.Foreign(after, newest) {
			return nil, err
		}
		return history.WrittenByCommands(ctx, tx, after)
	})
}

// SkipRules implements [reconcile.Records].
func (l *Ledger) SkipRules(ctx context.Context) (entries []reconcile.Entry, err error) {
	var unreadable error
	err = l.file.Read(ctx, func(tx *sql.Tx) error {
		entries, unreadable, err = history.SkipRules(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, unreadable
}

// History implements [reconcile.History], as of one moment.
func (l *Ledger) History(ctx context.Context, f reconcile.HistoryFilter, yield func(reconcile.Entry) error) (earlier int64, err error) {
	var stopped error
	err = l.file.Read(ctx, func(tx *sql.Tx) error {
		earlier, err = history.Read(ctx, tx, f, func(e reconcile.Entry) error {
			stopped = yield(e)
			return stopped
		})
		return err
	})
	if stopped != nil {
		return earlier, stopped
	}
	return earlier, store.Explain("reading", l.file.Path, err)
}

// Page implements [reconcile.HistoryPages].
func (l *Ledger) Page(ctx context.Context, f reconcile.HistoryFilter) (entries []reconcile.Entry, earlier bool, err error) {
	err = l.file.ReadBeside(ctx, func(tx *sql.Tx) error {
		entries, earlier, err = history.Page(ctx, tx, f)
		return err
	})
	return entries, earlier, l.explainPage(err)
}

// Accepted implements [reconcile.HistoryPages].
func (l *Ledger) Accepted(ctx context.Context, before int64, last int) (commits []reconcile.AcceptedCommit, earlier bool, err error) {
	err = l.file.ReadBeside(ctx, func(tx *sql.Tx) error {
		commits, earlier, err = l.written.Accepted(ctx, tx, before, last, l.file.Time())
		return err
	})
	return commits, earlier, l.explainPage(err)
}

// explainPage leaves what is wrong with the question.
func (l *Ledger) explainPage(err error) error {
	if errors.Is(err, reconcile.ErrManyCommits) {
		return err
	}
	return store.Explain("reading", l.file.Path, err)
}

// VerifyHistory reads the whole history and reports what is wrong with it. noted are heads
// that somebody noted elsewhere; the file beside the ledger is read too.
func (l *Ledger) VerifyHistory(ctx context.Context, noted ...history.Head) (report history.Report, err error) {
	own, err := l.file.Known()
	if err != nil {
		return report, err
	}
	if l.Missing() != "" {
		return history.Lost(own), nil
	}
	known := []history.Known{own}
	for _, head := range noted {
		known = append(known, history.Known{Head: head, Where: "the head that was given"})
	}
	err = l.file.Read(ctx, func(tx *sql.Tx) error {
		report, err = history.Verify(ctx, tx, known...)
		return err
	})
	return report, store.Explain("reading", l.file.Path, err)
}

// Gaps returns the places at which entries of the history are missing and which no person
// has accepted. Where there is no ledger, the file that names its last entry says so.
func (l *Ledger) Gaps(ctx context.Context) ([]history.Gap, error) {
	open, err := l.file.Gaps(ctx)
	return open, store.Explain("reading", l.file.Path, err)
}

// NotePutBack is for a process that begins to write: where entries are missing at the end, that is put on
// record for all processes before it reads anything else, and what is on record is not written until git was
// looked at.
func (l *Ledger) NotePutBack(ctx context.Context) error {
	return l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := l.file.EnterGap(ctx, tx)
		return err
	})
}

// AcceptGap records that a person accepts what is missing, and returns what that is. They
// are none where nothing is missing, and then nothing is recorded.
func (l *Ledger) AcceptGap(ctx context.Context, reason string) (accepted []history.Gap, err error) {
	err = l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := l.file.EnterGap(ctx, tx); err != nil {
			return err
		}
		if accepted, err = history.OpenGaps(ctx, tx); err != nil || len(accepted) == 0 {
			return err
		}
		entry := l.file.Decided(reconcile.ActionAcceptGap, reconcile.Subject{})
		entry.Reason = reason
		for _, gap := range accepted {
			entry.Accepts = append(entry.Accepts, gap.Number)
		}
		_, err := l.file.Enter(ctx, tx, entry)
		return err
	})
	return accepted, err
}

// Created reports whether there was no ledger and this process has made one, and which files
// of an earlier one were at its place.
func (l *Ledger) Created() (created bool, traces []string) { return l.file.Created, l.file.Traces }
