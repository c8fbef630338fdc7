package gitrepo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// mostPacks is how many packs a store of some hundred objects has at the most: 8 that are small,
// and those that stay, of which each takes as many objects twice as all before it.
const mostPacks = 12

// Whatever is pushed, and whenever a process is killed that merges packs: a store has all that its
// refs reach, loses no object by a merge, and has a few packs.
func TestMergedStoreIsWhole(t *testing.T) {
	t.Parallel()
	histories, steps := 2, 50
	if soak.On {
		histories, steps = 20, 200
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed), steps)
			for i := range steps {
				if i%16 == 15 { // a fetch has merged since the last one
					h.killed(h.random.IntN(2 + 2*len(h.packs())))
				}
				h.step()
			}
			if h.merges == 0 || h.kills != steps/16 {
				t.Errorf("%d merges, and %d that were killed", h.merges, h.kills)
			}
			h.judged()
		})
	}
}

// judged has git look at each object, delta and checksum, and at the history where it is whole.
func (h *history) judged() {
	h.t.Helper()
	args := []string{"fsck", "--no-dangling"}
	if h.source.Shallow {
		args = []string{"verify-pack"}
		for _, name := range h.packs() {
			args = append(args, h.repo.packFile(name, ".idx"))
		}
	}
	cmd := exec.Command("git", append([]string{"--git-dir", h.repo.dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Errorf("git %v: %v\n%s", args, err, out)
	}
}

// A process that is killed before it gives a pack its name leaves a part of the index of that
// name, and the same packs are merged again.
func TestMergeAfterAKilledOne(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 0, 3)
	for i, head := range h.commits {
		h.server.Point("refs/heads/main", head)
		h.fetch(head)
		if i == len(h.commits)-1 {
			h.killed(1)
			h.fetch(head)
		}
	}
	before := h.objects()
	stored, err := h.repo.stored(h.packs())
	must.Do(t, err)
	must.Do(t, h.repo.merge(packsOf(h.repo.dir), stored, 1<<30))
	h.whole(before)
	if n := len(h.packs()); n != 1 || h.kills != 1 {
		t.Errorf("%d packs, after %d merges that were killed", n, h.kills)
	}
}

// What one reads and fetches costs the same after many fetches as after a few.
func TestReadingCostsTheSameAfterManyFetches(t *testing.T) {
	many := 40
	if soak.On {
		many = 200
	}
	h := newHistory(t, 0, many)
	var costs []float64
	for i, head := range h.commits[:many] {
		h.server.Point("refs/heads/main", head)
		h.fetch(head)
		if i != 4 && i != many-1 {
			continue
		}
		costs = append(costs, testing.AllocsPerRun(3, func() {
			_, err := h.repo.Commit(head)
			must.Do(t, err)
			_, err = h.repo.Tree(head, "edge", Limits{})
			must.Do(t, err)
			_, err = h.repo.Move(h.commits[i-1], head)
			must.Do(t, err)
		}))
	}
	if costs[1] > 3*costs[0] { // of 5 packs, and of up to 12
		t.Errorf("%.0f allocations after 5 fetches, and %.0f after %d", costs[0], costs[1], many)
	}
}

// history is a repository to which things happen, and a store that follows it.
type history struct {
	t       *testing.T
	random  *rand.Rand
	server  *gittest.Repository
	commits []string // one after the other
	next    int      // the one that was pushed last
	others  []string // each after the same one
	repo    *Repo
	source  Source
	merges  int
	kills   int
}

func newHistory(t *testing.T, seed uint64, steps int) *history {
	u := gittest.New(t)
	u.Commit("edge/a.cue", "a: 0\n", "edge/b.cue", "b: 0\n"+strings.Repeat("// long\n", 200), "other/c.cue", "c: 0\n")
	var contents []string
	for i := range steps + 1 {
		// Some commits bring back what was there before: a server sends that again.
		contents = append(contents, fmt.Sprintf("a: %d\n%s", i%7, strings.Repeat(fmt.Sprintf("// %d\n", i%11), 50)))
	}
	r, err := Open(filepath.Join(t.TempDir(), "store"))
	must.Do(t, err)
	return &history{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), server: u, repo: r,
		commits: u.Chain("edge/a.cue", contents...), others: u.Fan("other/c.cue", "c: 1\n", "c: 2\n", "c: 3\n", "c: 4\n", "c: 5\n"),
		source: Source{URL: "file://" + u.Dir, Ref: "refs/heads/main", Tags: true, Shallow: seed%2 == 1},
	}
}

// step has one thing happen to the server and the store, and a fetch follow it.
func (h *history) step() {
	head := h.commits[h.next]
	switch what := h.random.IntN(10); {
	case what == 0: // a force push
		head = h.commits[h.random.IntN(h.next+1)]
	case what == 1:
		head = h.others[h.random.IntN(len(h.others))]
	case what == 2:
		text := fmt.Sprintf("object %s\ntype commit\ntag v%d\ntagger Ada <ada@example.com> 1700000000 +0000\n\nRelease\n", head, h.next)
		h.server.Point(fmt.Sprintf("refs/tags/v%d", h.next), h.server.Object("tag", text))
	default:
		h.next++
		head = h.commits[h.next]
	}
	h.server.Point("refs/heads/main", head)
	h.fetch(head)
}

func (h *history) fetch(head string) {
	h.t.Helper()
	before, packs := h.objects(), len(h.packs())
	got, err := h.repo.Fetch(context.Background(), h.source)
	if err != nil || got.Rebuilt || got.Commit != head {
		h.t.Fatalf("fetched %+v, %v, want %s", got, err, head)
	}
	must.Do(h.t, h.repo.Tidy(h.source.Limits, false))
	h.whole(before)
	must.Do(h.t, h.repo.SetGood(head))
	after := len(h.packs())
	if after < packs {
		h.merges++
	}
	if after > mostPacks {
		h.t.Fatalf("there are %d packs", after)
	}
}

// whole fails for a store that is damaged, or has lost an object.
func (h *history) whole(before map[plumbing.Hash]bool) {
	h.t.Helper()
	if err := h.repo.inspect(); err != nil {
		h.t.Fatal(err)
	}
	after := h.objects()
	for object := range before {
		if !after[object] {
			h.t.Fatalf("object %s is lost", object)
		}
	}
}

func (h *history) packs() []plumbing.Hash {
	h.t.Helper()
	names, err := openStorage(h.repo.dir).ObjectPacks()
	must.Do(h.t, err)
	return names
}

// objects are those of all packs.
func (h *history) objects() map[plumbing.Hash]bool {
	h.t.Helper()
	stored, err := h.repo.stored(h.packs())
	must.Do(h.t, err)
	hashes, err := h.repo.objectsOf(stored)
	must.Do(h.t, err)
	all := map[plumbing.Hash]bool{}
	for _, hash := range hashes {
		all[hash] = true
	}
	return all
}

// killed merges all packs in a process that is killed after so many steps: the pack is written,
// gets its name, each of the old ones goes, and then their indexes.
func (h *history) killed(left int) {
	h.t.Helper()
	before := h.objects()
	stored, err := h.repo.stored(h.packs())
	must.Do(h.t, err)
	st := &dying{Storage: openStorage(h.repo.dir), dir: h.repo.dir, left: left}
	func() {
		defer func() {
			if recover() == errKilled {
				h.kills++
			}
		}()
		h.repo.suspect()
		must.Do(h.t, h.repo.merge(st, stored, 1<<30))
	}()
	after := h.objects()
	for object := range before {
		if !after[object] {
			h.t.Fatalf("object %s is lost in a merge that is killed", object)
		}
	}
}

var errKilled = fmt.Errorf("killed")

// dying is a store of a process that is killed after so many steps.
type dying struct {
	*filesystem.Storage
	dir  string
	left int
}

// step reports whether it is the last one.
func (d *dying) step() bool {
	d.left--
	return d.left == -1
}

func (d *dying) PackfileWriter() (io.WriteCloser, error) {
	w, err := d.Storage.PackfileWriter()
	return &dyingWriter{w, d}, err
}

type dyingWriter struct {
	io.WriteCloser
	store *dying
}

func (w *dyingWriter) Write(p []byte) (int, error) {
	if w.store.left == 0 {
		_, _ = w.WriteCloser.Write(p[:len(p)/2])
		panic(errKilled)
	}
	return w.WriteCloser.Write(p)
}

// Close makes the index before the pack has its name.
func (w *dyingWriter) Close() error {
	w.store.left-- // what was written is a step
	before := w.store.files()
	err := w.WriteCloser.Close()
	if w.store.step() {
		for name := range w.store.files() {
			switch {
			case before[name]:
			case strings.HasSuffix(name, ".pack"):
				_ = os.Rename(name, filepath.Join(filepath.Dir(name), "tmp_pack_1"))
			default:
				_ = os.Truncate(name, 100)
			}
		}
		panic(errKilled)
	}
	return err
}

func (d *dying) files() map[string]bool {
	names, _ := filepath.Glob(filepath.Join(d.dir, "objects", "pack", "*"))
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

func (d *dying) Sync(string) error { return nil }

func (d *dying) Remove(file string) error {
	if d.step() {
		panic(errKilled)
	}
	return os.Remove(file)
}
