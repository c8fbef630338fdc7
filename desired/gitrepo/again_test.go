package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/seawall-dev/seawall/integration/must"
)

// What fails is read again as long as packs come and go meanwhile.
func TestReadAgainWhilePacksGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700))
	for _, test := range []struct{ changes, reads int }{{0, 1}, {1, 2}, {3, 4}, {99, mostReads}} {
		reads := 0
		_, err := again(&Repo{dir}, func() (int, error) {
			if reads++; reads <= test.changes {
				pack, err := os.CreateTemp(filepath.Join(dir, "objects", "pack"), "pack-*.pack")
				must.Do(t, err)
				must.Do(t, pack.Close())
			}
			return 0, noCommit(strings.Repeat("ab", 20), errors.New("not found"))
		})
		if !errors.Is(err, ErrNoCommit) || reads != test.reads {
			t.Errorf("packs change %d times: read %d times, want %d; %v", test.changes, reads, test.reads, err)
		}
	}
}

// Packs go when the one in their place is on the disk. An index outlives its pack, and all other packs: readers need that of each pack they list.
func TestPacksGoBeforeIndexes(t *testing.T) {
	t.Parallel()
	h := untidy(t, 4)
	stored, err := h.repo.stored(h.packs())
	must.Do(t, err)
	st := &recording{packFiles: packsOf(h.repo.dir)}
	must.Do(t, h.repo.merge(st, stored, 1<<30))
	if want := []string{"sync .pack", "sync .idx", "sync ", ".pack", ".pack", ".pack", ".pack", ".idx", ".idx", ".idx", ".idx"}; !slices.Equal(st.did, want) {
		t.Errorf("did %v", st.did)
	}
}

// Damage that a second look does not meet is not forgotten; a pack that went is no damage.
func TestSecondLookHidesNoDamage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first   error
		suspect bool
	}{
		"a pack that went":   {dotgit.ErrPackfileNotFound, false},
		"an index that went": {&fs.PathError{Op: "open", Path: "x.idx", Err: fs.ErrNotExist}, false},
		"a damaged copy":     {errors.New("invalid checksum"), true},
	} {
		h := untidy(t, 1)
		files := newTree(h.repo.dir, openStorage, ".")
		for look, read := range map[string]func(func() error) error{
			"files": files.twice,
			"a commit": func(read func() error) error {
				_, err := again(h.repo, func() (int, error) {
					err := read()
					if err != nil {
						err = storeError("reading", err)
						must.Do(t, os.WriteFile(h.repo.packFile(plumbing.ZeroHash, ".pack"), nil, 0o600))
					}
					return 0, err
				})
				return err
			},
		} {
			must.Do(t, os.RemoveAll(h.repo.packFile(plumbing.ZeroHash, ".pack")))
			must.Do(t, h.repo.stamp())
			tries := 0
			err := read(func() error {
				if tries++; tries == 1 {
					return test.first
				}
				return nil
			})
			must.Do(t, os.RemoveAll(h.repo.packFile(plumbing.ZeroHash, ".pack")))
			if err != nil || tries != 2 || h.repo.stamped() == test.suspect {
				t.Errorf("%s, of %s: %v after %d tries, and the store is stamped: %v", name, look, err, tries, h.repo.stamped())
			}
		}
	}
}

// recording is a store that notes what is brought to the disk, and deleted.
type recording struct {
	packFiles
	did []string
}

func (r *recording) Sync(file string) error {
	r.did = append(r.did, "sync "+filepath.Ext(file))
	return r.packFiles.Sync(file)
}

func (r *recording) Remove(file string) error {
	r.did = append(r.did, filepath.Ext(file))
	return r.packFiles.Remove(file)
}

// A commit that cannot be read is not one that is absent.
func TestUnreadableCommitIsNotAbsent(t *testing.T) {
	t.Parallel()
	h := untidy(t, 1)
	for _, name := range h.packs() {
		must.Do(t, os.Truncate(h.repo.packFile(name, ".idx"), 100))
	}
	if _, err := h.repo.Move(h.commits[0], h.commits[0]); !errors.Is(err, ErrStore) || errors.Is(err, ErrNoCommit) {
		t.Errorf("error %v", err)
	}
}

// A folder that cannot be read is not one that is absent: a link to it would be left out, and a
// wrong commit named for what is in it.
func TestUnreadableFolderIsNotAbsent(t *testing.T) {
	t.Parallel()
	h := untidy(t, 1)
	st := openStorage(h.repo.dir)
	c, err := findCommit(st, h.commits[0])
	must.Do(t, err)
	top, err := c.Tree()
	must.Do(t, err)
	for name, want := range map[string]bool{"edge": true, "edge/b.cue": true, "edge/none": false, "none/b.cue": false, "edge/b.cue/x": false} {
		if e, err := entryAt(st, top, name); err != nil || (e != nil) != want {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	for i := range top.Entries {
		top.Entries[i].Hash = plumbing.NewHash(strings.Repeat("ab", 20)) // in no pack
	}
	w := &walk{storage: st, top: top}
	if _, err := w.isFolder("edge/below"); err == nil {
		t.Error("a folder that cannot be read has nothing below it")
	}
	lost := st.NewEncodedObject()
	must.Do(t, top.Encode(lost))
	c.TreeHash, err = st.SetEncodedObject(lost)
	must.Do(t, err)
	p := &past{storage: st, blobs: map[place]plumbing.Hash{}}
	if blob, err := p.blob(c, "edge/b.cue"); err == nil {
		t.Errorf("the file in it is %s", blob)
	}
}

// A tree that looks again leaves no file open, and opens the packs as before.
func TestSecondLookClosesTheFirst(t *testing.T) {
	t.Parallel()
	h := untidy(t, 1)
	var opened []*filesystem.Storage
	files := newTree(h.repo.dir, func(dir string) *filesystem.Storage {
		opened = append(opened, readStorage(dir))
		return opened[len(opened)-1]
	}, ".")
	first := true
	must.Do(t, files.twice(func() error {
		if _, err := findCommit(files.storage, h.commits[0]); err != nil || !first {
			return err
		}
		first = false
		return dotgit.ErrPackfileNotFound
	}))
	if len(opened) != 2 || files.storage != opened[1] {
		t.Fatalf("opened %d times", len(opened))
	}
	must.Do(t, files.Close())
	links, err := filepath.Glob("/proc/self/fd/*")
	must.Do(t, err)
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, h.repo.dir) {
			t.Errorf("%s is open", to)
		}
	}
}

// Who reads while packs are merged, at any moment of it, reads what is there.
func TestReadersBesideAMerge(t *testing.T) {
	t.Parallel()
	h := untidy(t, 4)
	head := h.commits[3]
	must.Do(t, h.repo.SetGood(head))
	stored, err := h.repo.stored(h.packs())
	must.Do(t, err)
	read := func() {
		files, err := h.repo.Tree(head, "edge", Limits{})
		must.Do(t, err)
		_, err = files.ReadFile("edge/b.cue")
		must.Do(t, err)
		if how, err := h.repo.Move(h.commits[0], head); err != nil || how != Forward {
			t.Errorf("moved %s, %v", how, err)
		}
	}
	held, err := h.repo.Tree(head, "edge", Limits{})
	must.Do(t, err)
	must.Do(t, h.repo.merge(&beside{packsOf(h.repo.dir), read}, stored, 1<<30))
	_, err = held.ReadFile("edge/b.cue") // opened before
	must.Do(t, err)
}

// beside is a store that is read before each step of a merge.
type beside struct {
	packFiles
	read func()
}

func (b *beside) Remove(file string) error {
	b.read()
	return b.packFiles.Remove(file)
}
