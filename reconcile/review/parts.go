package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
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
	left       int   // entry points that are still to be read
}

// same reports whether it is still the same that is asked for.
func (p part) same(head, base string) bool { return p.head == head && p.base == base }

// errInParts says that a pull request is not read through yet.
var errInParts = errors.New("it changes more zones than one round can read")

// mostAtOnce is how many entry points are read together, however little room there is.
const mostAtOnce = 20

// mayGoOn reports, before a head is evaluated again, that there is no room for the
// rest of its reads.
func (r *planning) mayGoOn(number int, head, base string) error {
	p, begun := r.parts[number]
	if begun && p.same(head, base) && p.left > 0 && r.anyRoom(p.left) == 0 {
		return errInParts
	}
	return nil
}

// read reads what is wanted, or goes on with it, and returns what is live and how many
// requests that took in all.
func (r *planning) read(ctx context.Context, number int, head, base string, w wanted) (seen zone.All, used int64, err error) {
	p, begun := r.parts[number]
	if begun = begun && p.same(head, base); !begun {
		p = part{head: head, base: base, since: r.Now()}
	}
	delete(r.parts, number)
	sent := r.Requests.Sent()
	seen, whole, err := r.readPart(ctx, p, w)
	p.used += r.Requests.Sent() - sent
	if whole && err == nil {
		return seen, p.used, nil
	}
	if err == nil || ctx.Err() != nil {
		p.left = r.kept.missing(w, p.since)
		r.parts[number] = p
	}
	if err != nil {
		return zone.All{}, 0, err
	}
	if !begun {
		r.Log.InfoContext(ctx, "a pull request changes more zones than there is room to read at once; it is read in parts",
			"number", number, "left", p.left)
	}
	return zone.All{}, 0, fmt.Errorf("%w: %d are left", errInParts, p.left)
}

// readPart reads what there is room for, and reports whether that was all.
func (r *planning) readPart(ctx context.Context, p part, w wanted) (seen zone.All, whole bool, err error) {
	many := zone.Many{
		Lanes: r.keeping(p.since), Documented: r.Guards.Documented, Names: r.Names, Now: r.Now, Removable: w.removable, Looking: &w.looking,
	}
	left := r.kept.missing(w, p.since)
	if now, room := r.cut(w, p.since); room < left {
		seen, err = many.Read(ctx, now)
		if err != nil || room == 0 || r.kept.missing(w, p.since) < left {
			return seen, false, err
		} // else none of them can be read, and to wait is of no use
	}
	seen, err = many.Read(ctx, w.State)
	return seen, true, err
}

// keeping are the lanes, each over what is kept since a time.
func (r *planning) keeping(since time.Time) reconcile.Lanes {
	lanes := r.Lanes
	lanes.All = slices.Clone(lanes.All)
	for i := range lanes.All {
		lanes.All[i].Reader = keeping{&r.kept, edge.ReadOnly(lanes.All[i].Reader), since}
	}
	return lanes
}

// cut is what may be read now of what is wanted and was not read since a time: of each
// credential what there is room for; and how many entry points that is.
func (r *planning) cut(w wanted, since time.Time) (now desired.State, room int) {
	now = w.State
	now.Accounts = nil
	for i, part := range r.Lanes.Part(w.State) {
		of := wanted{part, w.removable, w.looking}
		left := r.kept.missing(of, since)
		may := roomOf(r.Lanes.All[i], left)
		room += may
		now.Accounts = append(now.Accounts, r.kept.cut(of, since, may).Accounts...)
	}
	return now, room
}

// forOthers is the part of a credential's budget, one in so many requests, that a pull
// request of many zones leaves to the others.
const forOthers = 4

// roomOf is how many of so many entry points may be read now with a credential.
func roomOf(of reconcile.Lane, left int) int {
	if of.Room == nil || left <= mostAtOnce {
		return left
	}
	return min(left, max(0, of.Room(edge.Question, of.Budget.Requests/forOthers)))
}

// anyRoom is how many of so many entry points may be read now if they are all of the
// credential with the most room.
func (r *planning) anyRoom(left int) (room int) {
	for _, lane := range r.Lanes.All {
		room = max(room, roomOf(lane, left))
	}
	return room
}

// dropKept drops what was read and counts for no pull request any more.
func (r *planning) dropKept() {
	before := r.Now()
	for _, p := range r.parts {
		if p.since.Before(before) {
			before = p.since
		}
	}
	r.kept.drop(before, len(r.parts) == 0)
}
