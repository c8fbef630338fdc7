package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/integration/must"
)

// untidy is a store into which so many fetches came that were not tidied.
func untidy(t *testing.T, fetches int) *history {
	t.Helper()
	h := newHistory(t, 0, 0)
	var contents, lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("// %x\n", i*i*i))
	}
	for i := range fetches {
		contents = append(contents, fmt.Sprintf("b: %d\n", i)+strings.Join(lines, ""))
	}
	h.commits = h.server.Chain("edge/b.cue", contents...)
	for _, head := range h.commits {
		h.server.Point("refs/heads/main", head)
		if got, err := h.repo.Fetch(context.Background(), h.source); err != nil || got.Rebuilt {
			t.Fatalf("fetched %+v, %v", got, err)
		}
	}
	return h
}

// fetchedAgain fails where a fetch finds the store damaged.
func (h *history) fetchedAgain() {
	h.t.Helper()
	if got, err := h.repo.Fetch(context.Background(), h.source); err != nil || got.Rebuilt {
		h.t.Errorf("the next fetch: %+v, %v", got, err)
	}
}

// A fetch leaves the packs to what follows it, where somebody waits for that too.
func TestTidyFollowsTheFetch(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	before := h.objects()
	for i, waited := range []bool{true, false} {
		if n := len(h.packs()); n != fewPacks+2 {
			t.Errorf("%d packs before it is tidied for the %d. time", n, i)
		}
		must.Do(t, h.repo.Tidy(FetchLimits{}, waited))
	}
	if n := len(h.packs()); n > 2 || !h.repo.stamped() {
		t.Errorf("%d packs are left, stamped: %v", n, h.repo.stamped())
	}
	h.whole(before)
	h.fetchedAgain()
}

// What fails, or has its process die, is not tried again for the same packs.
func TestTidyIsTriedOnce(t *testing.T) {
	t.Parallel()
	h := untidy(t, 2)
	failed, tries := errors.New("failed"), 0
	try := func(packs []plumbing.Hash) error {
		_, err := h.repo.tryOnce("merge", packs, func() error {
			tries++
			if h.repo.stamped() {
				t.Error("the store is taken for sound meanwhile")
			}
			return failed
		})
		return err
	}
	if err := try(h.packs()); !errors.Is(err, failed) {
		t.Error(err)
	}
	if err := try(h.packs()); err != nil || tries != 1 {
		t.Errorf("tried %d times, %v", tries, err)
	}
	if err := try(h.packs()[:1]); !errors.Is(err, failed) || tries != 2 {
		t.Errorf("tried %d times for other packs, %v", tries, err)
	}
	h.fetchedAgain()
}

// A merge looks for no differences between objects: it would have many of them in memory.
func TestMergeFindsNoDeltas(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	before := h.deltas()
	must.Do(t, h.repo.Tidy(FetchLimits{}, false))
	if after := h.deltas(); after > before || len(h.packs()) > 2 {
		t.Errorf("%d differences became %d in %d packs", before, after, len(h.packs()))
	}
}

// deltas counts the objects of a store that are written as their difference to another one.
func (h *history) deltas() (n int) {
	h.t.Helper()
	for _, name := range h.packs() {
		out, err := exec.Command("git", "verify-pack", "-v", h.repo.packFile(name, ".idx")).Output()
		must.Do(h.t, err)
		for line := range strings.Lines(string(out)) {
			var chain, objects int
			if _, err := fmt.Sscanf(line, "chain length = %d: %d", &chain, &objects); err == nil {
				n += objects
			}
		}
	}
	return n
}

// A merge that comes to the end of its room, or is broken off, leaves nothing behind.
func TestTidyWithoutRoom(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	before, packs := h.objects(), h.packs()
	stored, err := h.repo.stored(packs)
	must.Do(t, err)
	done, err := h.repo.tryOnce("merge", packs, func() error { return h.repo.merge(packsOf(h.repo.dir), stored, 1000) })
	if done || err != nil || !h.repo.stamped() {
		t.Errorf("done %v, %v, stamped %v", done, err, h.repo.stamped())
	}
	if left, _ := filepath.Glob(filepath.Join(h.repo.dir, "objects", "pack", "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	h.fetchedAgain()
	h.whole(before)
}
