package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
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

// A fetch leaves the packs to what follows it, also where somebody waits for that: packs that come
// without a pause would be too many soon.
func TestTidyFollowsTheFetch(t *testing.T) {
	t.Parallel()
	for _, waited := range []bool{true, false} {
		h := untidy(t, fewPacks+2)
		before := h.objects()
		if n := len(h.packs()); n != fewPacks+2 {
			t.Errorf("%d packs before it is tidied", n)
		}
		must.Do(t, h.repo.Tidy(FetchLimits{}, waited))
		if n := len(h.packs()); n > 2 || !h.repo.stamped() {
			t.Errorf("waited %v: %d packs are left, stamped: %v", waited, n, h.repo.stamped())
		}
		h.whole(before)
		h.fetchedAgain()
	}
}

// What takes longer is left to a fetch for which nobody waits.
func TestTidyKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	p := newPushedOver(t)
	for range fewPacks + 1 { // more than is merged, in more packs than are few
		p.push(waitedBytes/fewPacks, true)
	}
	before, used := len(p.h.packs()), usedBytes(p.h.repo.dir)
	must.Do(t, p.h.repo.Tidy(p.h.source.Limits, true))
	if now := len(p.h.packs()); now != before {
		t.Errorf("%d of %d packs are left", now, before)
	}
	p.h.source.Limits.StoreBytes = 2 * used // to be compacted
	must.Do(t, p.h.repo.Tidy(p.h.source.Limits, true))
	if now := usedBytes(p.h.repo.dir); now < used {
		t.Errorf("it was compacted: %d of %d bytes", now, used)
	}
	must.Do(t, p.h.repo.Tidy(p.h.source.Limits, false))
	if now := usedBytes(p.h.repo.dir); now > used/2 {
		t.Errorf("%d of %d bytes are left", now, used)
	}
	p.h.whole(nil)
}

// What fails is not tried again for the same packs.
func TestTidyIsTriedOnce(t *testing.T) {
	t.Parallel()
	h := untidy(t, 2)
	failed, tries := errors.New("failed"), 0
	try := func(packs []plumbing.Hash) error {
		_, err := h.repo.tryOnce("merge", fmt.Sprint(packs), func() error {
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
	done, err := h.repo.tryOnce("merge", fmt.Sprint(packs), func() error { return h.repo.merge(packsOf(h.repo.dir), stored, 1000) })
	if done || err != nil || !h.repo.stamped() {
		t.Errorf("done %v, %v, stamped %v", done, err, h.repo.stamped())
	}
	if left, _ := filepath.Glob(filepath.Join(h.repo.dir, "objects", "pack", "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	h.fetchedAgain()
	h.whole(before)
}

// A store makes room for a commit by what was pushed over, of which it has the most in one pack.
func TestTidyMakesRoom(t *testing.T) {
	t.Parallel()
	p := newPushedOver(t)
	p.push(700<<10, true)
	p.push(100<<10, true)
	p.push(250<<10, true) // has no room without the first
	p.push(500<<10, true)
	p.push(700<<10, false) // the one before is in force
	p.h.whole(nil)
}

// A store that one pack takes most of is compacted while there is room for it.
func TestTidyLeavesRoomToCompact(t *testing.T) {
	t.Parallel()
	p := newPushedOver(t)
	for _, size := range []int{700 << 10, 150 << 10, 20 << 10} {
		p.push(size, true)
		must.Do(t, p.h.repo.Tidy(p.h.source.Limits, false))
	}
	if used := usedBytes(p.h.repo.dir); used > 100<<10 {
		t.Errorf("it takes %d bytes", used)
	}
	p.h.whole(nil)
}

// pushedOver is a store of 1 MiB, and a branch of which each commit is pushed over the one before.
type pushedOver struct {
	h      *history
	first  string
	random *rand.ChaCha8
}

func newPushedOver(t *testing.T) *pushedOver {
	t.Helper()
	h := newHistory(t, 0, 0)
	h.source.Limits.StoreBytes = 1 << 20
	return &pushedOver{h, h.server.Head(), rand.NewChaCha8([32]byte{})}
}

// push pushes a file that cannot be compressed, and has it fetched, or refused for its size.
func (p *pushedOver) push(size int, fits bool) {
	p.h.t.Helper()
	p.h.server.Git("reset", "-q", "--hard", p.first)
	noise := make([]byte, size)
	_, _ = p.random.Read(noise)
	head := p.h.server.Commit("edge/noise.bin", string(noise))
	got, err := p.h.repo.Fetch(context.Background(), p.h.source)
	if fits == errors.Is(err, ErrTooLarge) || fits && (got.Commit != head || got.Rebuilt) {
		p.h.t.Fatalf("%d bytes: fetched %+v, %v", size, got, err)
	}
}

// A compaction that failed is not tried at each push, and keeps no small pack from being merged.
func TestTidyAfterAFailedCompaction(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	stored, err := h.repo.stored(h.packs())
	must.Do(t, err)
	_, err = h.repo.tryOnce("compaction", fmt.Sprint(largest(stored).name, 0), func() error { return errNoSpace })
	must.Do(t, err)
	before := h.objects()
	must.Do(t, h.repo.Tidy(FetchLimits{StoreBytes: 2 * usedBytes(h.repo.dir)}, false))
	if n := len(h.packs()); n != 1 {
		t.Errorf("%d packs are left", n)
	}
	if _, err := os.Stat(filepath.Join(h.repo.dir, "seawall.tried-compaction")); err != nil {
		t.Errorf("it was tried again: %v", err)
	}
	h.whole(before)
}

// Nothing is begun that has no room, and a merge is bounded in what it reads.
func TestMergeIsBounded(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	packs, used := h.packs(), usedBytes(h.repo.dir)
	must.Do(t, h.repo.tidy(packs, used+100, false))
	if notes, _ := filepath.Glob(filepath.Join(h.repo.dir, "seawall.tried-merge")); len(notes) > 0 || !h.repo.stamped() {
		t.Errorf("begun without room: %v", notes)
	}
	var large []storedPack
	for range 3 * fewPacks {
		large = append(large, storedPack{bytes: largePack - 1, objects: 3})
	}
	if got := smallPacks(large); len(got) != 4 {
		t.Errorf("%d packs of %d bytes are merged at once", len(got), largePack-1)
	}
}

// Of packs that cannot all be deleted, none loses its index, and the others go.
func TestMergeThatCannotDelete(t *testing.T) {
	t.Parallel()
	h := untidy(t, 4)
	stored, err := h.repo.stored(h.packs())
	must.Do(t, err)
	before := h.objects()
	st := &stuck{packsOf(h.repo.dir), h.repo.packFile(stored[1].name, ".pack")}
	h.repo.suspect()
	if err := h.repo.merge(st, stored, 1<<30); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
	if n := len(h.packs()); n != 2 {
		t.Errorf("%d packs are left", n)
	}
	h.whole(before)
	h.fetchedAgain()
}

// stuck is a store of which one file cannot be deleted.
type stuck struct {
	packFiles
	file string
}

func (s *stuck) Remove(file string) error {
	if file == s.file {
		return fs.ErrPermission
	}
	return s.packFiles.Remove(file)
}

// A compaction that has met damage leaves the store to the next fetch, which looks into it: no merge that follows
// calls it whole.
func TestTidyAfterDamage(t *testing.T) {
	t.Parallel()
	h := untidy(t, fewPacks+2)
	git := exec.Command("git", "--git-dir", h.repo.dir, "hash-object", "-w", "-t", "commit", "--stdin")
	git.Stdin = strings.NewReader("tree " + strings.Repeat("ab", 20) + "\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nlost\n")
	commit, err := git.Output()
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(h.repo.dir, "refs", "heads", "lost"), commit, 0o600))
	must.Do(t, h.repo.stamp())
	err = h.repo.Tidy(FetchLimits{StoreBytes: 2 * usedBytes(h.repo.dir)}, false)
	if !errors.Is(err, ErrStore) || h.repo.stamped() {
		t.Errorf("%v, stamped: %v", err, h.repo.stamped())
	}
}

// What a process was at that was killed is tried once more: it may have been told to end.
func TestTidyIsTriedAgainAfterAKill(t *testing.T) {
	t.Parallel()
	h := untidy(t, 1)
	killed := errors.New("killed")
	begin := func() (began bool) {
		defer func() {
			if p := recover(); p != nil && p != killed {
				panic(p)
			}
		}()
		_, err := h.repo.tryOnce("compaction", "all", func() error { began = true; panic(killed) })
		must.Do(t, err)
		return began
	}
	for n, want := range []bool{true, true, false, false} {
		if began := begin(); began != want {
			t.Errorf("after %d times it begins: %v", n, began)
		}
	}
	if done, err := h.repo.tryOnce("compaction", "others", func() error { return nil }); !done || err != nil {
		t.Errorf("other packs: %v, %v", done, err)
	}
	if !begin() {
		t.Error("it does not begin though others were compacted since")
	}
	h.fetchedAgain()
}
