package lease

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/reconcile"
)

// TestSpreading: whoever has what, leases are spread evenly, and each move brings them closer to that:
// it takes at least 2 from the sum of the squares of what replicas have.
func TestSpreading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		live, n := rapid.IntRange(1, 5).Draw(t, "replicas"), rapid.IntRange(1, 15).Draw(t, "leases")
		v := view{now: time.Unix(1000, 0), live: live}
		for i := range n {
			r := Row{Name: reconcile.LeaseName(fmt.Sprint(i)), ExpiresAt: v.now, GivenUp: true, Free: true}
			if owner := rapid.IntRange(-1, live-1).Draw(t, "owner"); owner >= 0 {
				r.GivenUp, r.Free, r.Live, r.Replica, r.Since = false, false, true, fmt.Sprint(owner), v.now.Add(time.Duration(i))
			}
			v.rows = append(v.rows, r)
		}
		for i := range v.rows { // what is free is taken at once by some
			for who := range live {
				name := fmt.Sprint(who)
				if r := &v.rows[i]; v.takes(*r, name, v.count()[name]) {
					r.GivenUp, r.Free, r.Live, r.Replica, r.Since = false, false, true, name, v.now
				}
			}
		}
		spread := 0
		for _, has := range v.count() {
			spread += has * has
		}
		rest := n % live
		most := (spread - rest*(n/live+1)*(n/live+1) - (live-rest)*(n/live)*(n/live)) / 2
		moves := 0
		for again := true; again; {
			again = false
			for who := range live {
				if ask, ok := v.toAsk(fmt.Sprint(who)); ok {
					for i := range v.rows {
						if r := &v.rows[i]; r.Name == ask.Name {
							r.Replica, r.Since, again = fmt.Sprint(who), v.now.Add(time.Hour), true
						}
					}
					moves++
				}
			}
			if moves > most {
				t.Fatalf("%d moves, want at most %d", moves, most)
			}
		}
		for who := range live {
			if has := v.count()[fmt.Sprint(who)]; has < n/live || has > (n+live-1)/live {
				t.Fatalf("%d has %d of %d, over %d", who, has, n, live)
			}
		}
	})
}
