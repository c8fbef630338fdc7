package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// The budget of reviews is a small one, and anybody can open a pull request that
// changes a whole fleet. To wait for its reads would keep all others from being
// reviewed, and to give it up when its time is over would leave it without a review
// for ever. So each round reads of it what there is room for, and goes on in the next.

// part is a pull request that is read in parts: what is kept counts for it from the
// time on when that began.
type part struct {
	head, base string
	since      time.Time
	used       int64 // requests
	left       int   // zones that are still to be read
}

// same reports whether it is still the same that is asked for.
func (p part) same(head, base string) bool { return p.head == head && p.base == base }

// errInParts says that a pull request is not read through yet.
var errInParts = errors.New("it changes more zones than one round can read")

// mostAtOnce is how many zones are read together, however little room there is.
const mostAtOnce = 20

// mayGoOn reports, before a head is evaluated again, that there is no room for the
// rest of its reads.
func (r *Reviews) mayGoOn(number int, head, base string) error {
	p, begun := r.parts[number]
	if begun && p.same(head, base) && p.left > 0 && r.room(p.left) == 0 {
		return errInParts
	}
	return nil
}

// read reads a state, or goes on with it, and returns what is live and how many
// requests that took in all.
func (r *Reviews) read(ctx context.Context, number int, head, base string, state desired.State) (diff.Live, int64, error) {
	p, begun := r.parts[number]
	if begun = begun && p.same(head, base); !begun {
		p = part{head: head, base: base, since: r.Now()}
	}
	delete(r.parts, number)
	sent := r.requests()
	seen, whole, err := r.readPart(ctx, p, state)
	p.used += r.requests() - sent
	if whole && err == nil {
		return seen.Live, p.used, nil
	}
	if err == nil || ctx.Err() != nil {
		p.left = r.kept.missing(state, p.since)
		r.parts[number] = p
	}
	if err != nil {
		return diff.Live{}, 0, err
	}
	if !begun {
		r.Log.InfoContext(ctx, "a pull request changes more zones than there is room to read at once; it is read in parts",
			"number", number, "left", p.left)
	}
	return diff.Live{}, 0, fmt.Errorf("%w: %d are left", errInParts, p.left)
}

// readPart reads what there is room for, and reports whether that was all.
func (r *Reviews) readPart(ctx context.Context, p part, state desired.State) (seen zone.All, whole bool, err error) {
	many := zone.Many{Reader: keeping{&r.kept, p.since}, Concurrency: r.Concurrency, Documented: r.Guards.Documented, Names: r.Names, Now: r.Now}
	left := r.kept.missing(state, p.since)
	if room := r.room(left); room < left {
		seen, err = many.Read(ctx, r.kept.cut(state, p.since, room))
		if err != nil || room == 0 || r.kept.missing(state, p.since) < left {
			return seen, false, err
		} // else none of them can be read, and to wait is of no use
	}
	seen, err = many.Read(ctx, state)
	return seen, true, err
}

// room is how many of so many zones may be read now.
func (r *Reviews) room(left int) int {
	if r.Room == nil || left <= mostAtOnce {
		return left
	}
	return min(left, max(0, r.Room()))
}

func (r *Reviews) requests() int64 {
	if r.Requests == nil {
		return 0
	}
	return r.Requests()
}

// dropKept drops what was read and counts for no pull request any more.
func (r *Reviews) dropKept() {
	before := r.Now()
	for _, p := range r.parts {
		if p.since.Before(before) {
			before = p.since
		}
	}
	r.kept.drop(before, len(r.parts) == 0)
}
