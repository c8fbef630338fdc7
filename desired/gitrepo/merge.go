package gitrepo

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/integrity"
)

const (
	fewPacks = 8 // above this many packs that are small beside the others, these are merged
	// A pack above this size is never merged with others: the objects of all of them are in
	// memory.
	largePack  = 4 << 20
	mostMerged = 4 * largePack // bounds what one merge reads
	// A pack stays when it has so many times the objects of all smaller ones together, so that an
	// object is written again only when the packs that it was in have doubled.
	packGrowth = 2
)

// packStore is what packs are written to, and deleted from.
type packStore interface {
	storer.EncodedObjectStorer
	storer.PackfileWriter
	Remove(file string) error
	Sync(file string) error
}

// packFiles is the store of a folder as a packStore.
type packFiles struct{ *filesystem.Storage }

func packsOf(dir string) packFiles { return packFiles{openStorage(dir)} }

func (packFiles) Remove(file string) error { return os.Remove(file) }

// Sync has what was written to a file, or folder, on the disk.
func (packFiles) Sync(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// storedPack is a pack of a store, and how much it holds.
type storedPack struct {
	name    plumbing.Hash
	bytes   int64
	objects int64
}

// smallPacks are those of a store that are to be merged; none where there are few of them.
// What one fetch merges is in proportion to what the last ones have brought: as git does with
// "repack --geometric", of packs in the order of their size the first are taken, up to one
// that is large beside all before it.
func smallPacks(packs []storedPack) []storedPack {
	packs = slices.DeleteFunc(slices.Clone(packs), func(p storedPack) bool { return p.bytes > largePack })
	slices.SortFunc(packs, func(a, b storedPack) int {
		return cmp.Or(cmp.Compare(a.objects, b.objects), cmp.Compare(a.bytes, b.bytes))
	})
	small := packs[:smaller(packs)]
	if len(small) <= fewPacks {
		return nil
	}
	var bytes int64
	for i, p := range small {
		if bytes += p.bytes; bytes > mostMerged {
			return small[:i]
		}
	}
	return small
}

func (r *Repo) stored(names []plumbing.Hash) ([]storedPack, error) {
	packs := make([]storedPack, len(names))
	for i, name := range names {
		info, err := os.Stat(r.packFile(name, ".pack"))
		if err != nil {
			return nil, err
		}
		count, err := countObjects(r.packFile(name, ".pack"))
		if err != nil {
			return nil, err
		}
		packs[i] = storedPack{name, info.Size(), count}
	}
	return packs, nil
}

// countObjects is how many objects a pack has, by its header.
func countObjects(name string) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	_, count, err := packfile.NewScanner(file).Header()
	return int64(count), err
}

// smaller is how many packs come before the first that stays, in the order of their size. Each
// after that one stays too.
func smaller(packs []storedPack) int {
	var sum int64
	stay := 0
	for i, p := range packs {
		if p.objects < packGrowth*sum {
			stay = i + 1
		}
		sum += p.objects
	}
	return stay
}

func (r *Repo) packFile(name plumbing.Hash, suffix string) string {
	return filepath.Join(r.dir, "objects", "pack", "pack-"+name.String()+suffix)
}

func readIndex(name string) (*idxfile.MemoryIndex, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(bufio.NewReader(file)).Decode(index)
}

// merge writes one pack of all objects of some, whether a ref reaches them or not, and deletes
// these. The new pack takes at most room, in bytes.
func (r *Repo) merge(st packStore, packs []storedPack, room int64) error {
	hashes, err := r.objectsOf(packs)
	if err != nil {
		return err
	}
	const noSearch = 1 // for differences: it has many objects in memory, and chains grow by it
	name, err := r.writePack(st, hashes, noSearch, room)
	if err != nil {
		return err
	}
	if err := r.holds(name, hashes); err != nil {
		return err
	}
	return r.replacePacks(st, names(packs), name)
}

func names(packs []storedPack) []plumbing.Hash {
	all := make([]plumbing.Hash, len(packs))
	for i, p := range packs {
		all[i] = p.name
	}
	return all
}

// objectsOf lists the objects of packs, each once.
func (r *Repo) objectsOf(packs []storedPack) (hashes []plumbing.Hash, err error) {
	for _, p := range packs {
		index, err := readIndex(r.packFile(p.name, ".idx"))
		if err != nil {
			return nil, err
		}
		entries, err := index.Entries()
		if err != nil {
			return nil, err
		}
		for {
			entry, err := entries.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			hashes = append(hashes, entry.Hash)
		}
	}
	slices.SortFunc(hashes, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(hashes), nil
}

// holds makes sure that a new pack has exactly these objects: what was read damaged is written
// under another name.
func (r *Repo) holds(name plumbing.Hash, hashes []plumbing.Hash) error {
	index, err := readIndex(r.packFile(name, ".idx"))
	if err != nil {
		return err
	}
	for _, h := range hashes {
		if has, err := index.Contains(h); err != nil || !has {
			return integrity.Damaged("object %s has another content", h)
		}
	}
	return nil
}

// replacePacks deletes packs in favor of a new one, as soon as that is on the disk.
func (r *Repo) replacePacks(st packStore, old []plumbing.Hash, by plumbing.Hash) error {
	pack := r.packFile(by, ".pack")
	for _, file := range []string{pack, r.packFile(by, ".idx"), filepath.Dir(pack)} {
		if err := st.Sync(file); err != nil {
			return err
		}
	}
	return r.deletePacks(st, old, by)
}

// deletePacks deletes packs, as many as it can, and then their indexes: who lists the packs that are left finds an
// index of each.
func (r *Repo) deletePacks(st packStore, names []plumbing.Hash, but plumbing.Hash) error {
	var failed error
	remove := func(suffix string) (gone []plumbing.Hash) {
		for _, name := range names {
			if err := st.Remove(r.packFile(name, suffix)); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			gone = append(gone, name)
		}
		return gone
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name plumbing.Hash) bool { return name == but })
	names = remove(".pack")
	remove(".idx")
	return failed
}

// partsGlob are packs that are being written.
const partsGlob = "objects/pack/tmp_*"

// removeParts deletes what is left of a pack that could not be written. The caller holds the lock.
func removeParts(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, partsGlob))
	for _, name := range names {
		_ = os.Remove(name) // the next fetch tries again
	}
	removeLoneIndexes(dir)
}

// removeLoneIndexes deletes indexes without their pack, which a process leaves behind that is
// killed: a pack of that name that comes later would not get another one. The caller holds the
// lock.
func removeLoneIndexes(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*.idx"))
	for _, name := range names {
		if _, err := os.Lstat(strings.TrimSuffix(name, ".idx") + ".pack"); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(name) // the next fetch tries again
		}
	}
}
