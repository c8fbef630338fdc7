package ledger

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/diff"
)

// TestGroupsOfTwoLedgers: two processes' worth of writers come to an end, and nothing is
// lost.
func TestGroupsOfTwoLedgers(t *testing.T) {
	path := newPath(t)
	var workers sync.WaitGroup
	for who := range 2 {
		l := mustOpen(t, path)
		for n := range 8 {
			workers.Go(func() {
				for i := range 20 {
					if err := l.Widen(context.Background(), settled(deployment(i), diff.Member(fmt.Sprint(who, n)))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	workers.Wait()
	got, err := mustOpen(t, path).Restore(t.Context())
	must(t, err)
	for i := range 20 {
		if members := got.Applied[deployment(i)]; len(members) != 16 {
			t.Errorf("deployment %d owns %v, want 16 members", i, members)
		}
	}
}
