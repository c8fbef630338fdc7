package lease

import (
	"bytes"
	"context"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// ends are those of the history, by which a database that was put back to an earlier time is told from
// one that has gone on: the hash of an entry is that of all before it, too.
type ends struct {
	hash    []byte // of the newest entry
	base    int64  // entries up to this one are not kept any more
	earlier []byte // of the entry that was the newest with the look before; nil: it is not there
	times   int64  // how often it is on record that the database was put back
}

// compareRecords takes note of a database that was put back to an earlier time since the look before.
func (h *Holder) compareRecords(ctx context.Context, l *Look) error {
	forgot := l.forgot(h.latest)
	told := h.withheld // with an earlier look, which could not put it on record
	h.withhold(forgot)
	if l.News.PutBack = h.latest.News.PutBack; !forgot && !l.fewer(h.latest) {
		return nil
	}
	l.News.PutBack++
	if !told {
		h.Log.Warn("the database was put back to an earlier time: all of it is read anew")
	}
	if !forgot {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	times, err := h.Forgot(ctx, h.DB)
	if err != nil {
		return untoldError{err}
	}
	h.withhold(false)
	l.history.times = max(times, l.history.times)
	return nil
}

// untoldError: others do not know yet that the database was put back.
type untoldError struct{ error }

func (e untoldError) Error() string {
	return "putting on record that the database was put back to an earlier time: " + postgres.Told(e.error)
}

func (e untoldError) Unwrap() error { return e.error }

// withhold has no lease be used, and none renewed, until others know what this process has seen.
func (h *Holder) withhold(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.withheld = yes
}

// forgot reports whether entries of the history are missing that were there with the look before, or
// that the database was put back before.
func (l Look) forgot(before Look) bool {
	was, is := before.News.Newest, l.News.Newest
	if !before.At.IsZero() && l.history.times < before.history.times {
		return true
	}
	if before.At.IsZero() || was == 0 || was <= l.history.base {
		return !before.At.IsZero() && is < was
	}
	return is < was || !bytes.Equal(l.history.earlier, before.history.hash)
}

// fewer reports whether numbers of what has no entry in the history are lower than with the look before.
// They only grow, but that what counts for limits is forgotten with the next commit.
func (l Look) fewer(before Look) bool {
	was, is := before.News, l.News
	return !before.At.IsZero() && (is.Poked < was.Poked || is.Counted < was.Counted && is.Said == was.Said)
}
