package token

import (
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// scenes are what a process may be about when it dies.
var scenes = map[string]struct {
	extended bool
	set      func(f *fixture)
	before   string // the place that has a working secret from the beginning; empty: none
	after    string // the place that has one once nothing is in doubt; empty: none
	moments  int    // to die at: before and after each step
	doubts   int    // how often a person is needed
}{
	"a creation": {
		set:   func(f *fixture) { f.push(declare("a", zoneA)) },
		after: "a", moments: 10, doubts: 4,
	},
	"two creations": {
		set:   func(f *fixture) { f.push(declare("a", zoneA), declare("b", zoneB)) },
		after: "b", moments: 20, doubts: 8,
	},
	"a creation on a platform that lists": {
		extended: true, set: func(f *fixture) { f.push(declare("a", zoneA)) },
		after: "a", moments: 16,
	},
	"a delivery": {
		set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.fail["deliver"] = errSinkDown
			f.work()
			clear(f.fail)
		},
		after: "a", moments: 6,
	},
	"a rotation": {
		set: func(f *fixture) {
			f.push(rotating("a"))
			f.converge()
			f.advance(30 * day)
		},
		before: "a", after: "a", moments: 10, doubts: 4,
	},
	"a replacement": {
		set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.converge()
			f.push(declare("a", zoneB))
		},
		before: "a", after: "a", moments: 10, doubts: 4,
	},
	"an update": {
		extended: true, set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.converge()
			f.push(declare("a", zoneB))
		},
		before: "a", after: "a", moments: 8,
	},
	"an heir and a deletion": {
		extended: true, set: func(f *fixture) {
			f.push(inPlace("a", zoneA, "x"))
			f.converge()
			f.push(inPlace("b", zoneA, "x"))
		},
		before: "x", after: "x", moments: 16,
	},
	"a lost creation": {
		extended: true, set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.lose()
		},
		after: "a", moments: 12,
	},
	"a lost creation that took no effect": {
		extended: true, set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.lose()
			f.revoke(1)
			f.advance(lateAfter + time.Second)
		},
		after: "a", moments: 14,
	},
	"a token revoked elsewhere": {
		extended: true, set: func(f *fixture) {
			f.push(declare("a", zoneA), declare("b", zoneA))
			f.converge()
			f.revoke(1)
			f.advance(youngFor)
		},
		before: "b", after: "a", moments: 16,
	},
	"an unfinished attempt": {
		set: func(f *fixture) {
			f.push(declare("a", zoneA))
			f.after = "create"
			f.killed()
		},
		moments: 2, doubts: 3,
	},
}

// Wherever a process dies, the next one finds out what may have happened, creates
// nothing twice, and brings every secret that was recorded to its sink. What
// nobody can know waits for a person.
func TestKilledAtEveryMoment(t *testing.T) {
	for _, owned := range []bool{false, true} {
		killedAtEveryMoment(t, owned)
	}
}

func killedAtEveryMoment(t *testing.T, owned bool) {
	for name, scene := range scenes {
		if owned {
			name += ", of an account"
		}
		t.Run(name, func(t *testing.T) {
			moments, doubts := 0, 0
			for survived := false; !survived && !t.Failed(); moments++ {
				t.Run(fmt.Sprint("moment ", moments+1), func(t *testing.T) {
					f := newFixture(t)
					if scene.extended {
						f = newExtended(t)
					}
					if owned {
						f.own()
					}
					scene.set(f)
					f.at, f.moment = moments+1, 0
					survived = f.survives()
					f.holds()
					f.wantOwner()
					if scene.before != "" {
						f.wantWorking(scene.before)
					}
					if f.recover(scene.extended) {
						doubts++
					} else if scene.after != "" {
						f.wantWorking(scene.after)
					}
				})
			}
			if moments-1 != scene.moments || doubts != scene.doubts {
				t.Errorf("%d moments, of which %d leave a doubt; want %d and %d", moments-1, doubts, scene.moments, scene.doubts)
			}
		})
	}
}

// wantOwner: what is on record is on record of its owner.
func (f *fixture) wantOwner() {
	f.t.Helper()
	for _, r := range f.records() {
		if f.owned != (r.Owner == prodID) {
			f.t.Errorf("the owner of %s is %q", r.Key, r.Owner)
		}
	}
}

// The process that cleans up may die as well.
func TestKilledTwice(t *testing.T) {
	for _, extended := range []bool{false, true} {
		for _, first := range []string{"intend", "create", "confirm", "deliver", "delivered"} {
			for at, survived := 1, false; !survived; at++ {
				f := newFixture(t)
				if extended {
					f = newExtended(t)
				}
				f.push(declare("a", zoneA))
				f.after = first
				f.killed()
				f.at = at
				survived = f.survives()
				f.holds()
				if doubt := f.recover(extended); !doubt {
					f.wantWorking("a")
				} else if first != "intend" && first != "create" {
					t.Errorf("after %s the outcome is unknown", first)
				}
				if t.Failed() {
					t.Fatalf("extended %v, killed after %s and at %d", extended, first, at)
				}
			}
		}
	}
}

// recover lets more processes run, and reports whether a person is needed. That is
// never so where the platform lists its tokens, once a request can be late no more.
func (f *fixture) recover(extended bool) (doubt bool) {
	f.t.Helper()
	f.work()
	f.holds()
	created := len(f.platform.created)
	f.restart()
	o := f.work()
	f.holds()
	if n := len(f.platform.created) - created; n != 0 {
		f.t.Errorf("without a word of a person %d more were created", n)
	}
	if extended {
		f.restart()
		f.advance(time.Hour)
		f.work()
		f.holds()
		f.restart()
		f.converge()
		return false
	}
	for _, p := range o.Plan.Problems {
		doubt = doubt || p.State == diff.Quarantined
	}
	if converged(o) == doubt {
		f.t.Errorf("a doubt is left: %v; results %v, problems %+v", doubt, results(o), o.Plan.Problems)
	}
	return doubt
}
