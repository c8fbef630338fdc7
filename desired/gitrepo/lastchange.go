package gitrepo

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/utils/diff"
)

// Region is some lines of a file, of which the first is 1.
type Region struct {
	File        string // relative to the repository's root, with "/"
	First, Last int
}

// LastChange is the commit that last changed a region.
type LastChange struct {
	CommitInfo
	// Uncommitted: the text differs from the newest commit; there is no CommitInfo.
	Uncommitted bool `json:",omitempty"`
	// Cut: the history ends at this commit, or was searched only up to it. An earlier one
	// made the change.
	Cut bool `json:",omitempty"`
}

// Bounds of a search: how many commits it goes back, and for how long it diffs two texts.
const (
	mostHistory = 20_000
	diffTimeout = time.Second
)

// LastChanges finds the commit that last changed each region, of a commit and what came
// before it. A region is changed where lines of it are written, moved apart, or taken out
// from between. A merge counts only where the region is as in none of its parents. A file
// that was moved without a change keeps its history.
//
// texts are files that may differ from those of the commit, as they are now; nil for none.
// Where the context ends, what was not found is cut.
func (r *Repo) LastChanges(ctx context.Context, commit string, texts map[string][]byte, regions []Region) ([]LastChange, error) {
	return again(r, func() ([]LastChange, error) {
		st := readStorage(r.dir)
		defer st.Close()
		start, err := findCommit(st, commit)
		if err != nil {
			return nil, err
		}
		return lastChanges(ctx, st, start, texts, regions)
	})
}

// past looks back from a commit. It remembers what several regions ask for.
type past struct {
	storage *filesystem.Storage
	blobs   map[place]plumbing.Hash
	runs    map[[2]plumbing.Hash][]run
}

// place is a file of a tree.
type place struct {
	tree plumbing.Hash
	file string
}

// run is lines that two texts have in common, one after the other.
type run struct{ before, after, lines int } // the first line in each, from 1

func lastChanges(ctx context.Context, st *filesystem.Storage, start *object.Commit, texts map[string][]byte, regions []Region) ([]LastChange, error) {
	p := &past{st, map[place]plumbing.Hash{}, map[[2]plumbing.Hash][]run{}}
	cuts, err := st.Shallow()
	if err != nil {
		return nil, storeError("reading", err)
	}
	changes := make([]LastChange, len(regions))
	for i, region := range regions {
		if now, ok := texts[region.File]; ok {
			if region, ok, err = p.committed(start, now, region); err != nil {
				return nil, storeError("reading", err)
			}
			if !ok {
				changes[i].Uncommitted = true
				continue
			}
		}
		if changes[i], err = p.lastChange(ctx, start, len(cuts) > 0, region); err != nil {
			return nil, storeError("reading", err)
		}
	}
	return changes, nil
}

// committed finds a region of a text in the file of a commit; false where that has other text.
func (p *past) committed(c *object.Commit, now []byte, region Region) (Region, bool, error) {
	blob, err := p.blob(c, region.File)
	if err != nil || blob.IsZero() {
		return region, false, err
	}
	before, err := readBlob(p.storage, blob)
	if err != nil {
		return region, false, err
	}
	in, ok := follow(common(string(before), string(now)), region)
	return in, ok, nil
}

func (p *past) lastChange(ctx context.Context, c *object.Commit, shallow bool, region Region) (LastChange, error) {
	for n := 0; n < mostHistory && ctx.Err() == nil; n++ {
		parent, in, err := p.unchangedIn(c, region)
		cut := shallow && errors.Is(err, plumbing.ErrObjectNotFound)
		if err != nil && !cut {
			return LastChange{}, err
		}
		if parent == nil || cut {
			return LastChange{CommitInfo: infoOf(c), Cut: cut}, nil
		}
		c, region = parent, in
	}
	return LastChange{CommitInfo: infoOf(c), Cut: true}, nil
}

// unchangedIn is a parent that has a region of a commit, and where; nil for none.
func (p *past) unchangedIn(c *object.Commit, region Region) (*object.Commit, Region, error) {
	blob, err := p.blob(c, region.File)
	if err != nil {
		return nil, region, err
	}
	parents := make([]*object.Commit, len(c.ParentHashes))
	blobs := make([]plumbing.Hash, len(parents))
	for i, hash := range c.ParentHashes {
		if parents[i], err = object.GetCommit(p.storage, hash); err != nil {
			return nil, region, err
		}
		if blobs[i], err = p.blob(parents[i], region.File); err != nil {
			return nil, region, err
		}
		if blobs[i] == blob {
			return parents[i], region, nil
		}
	}
	for i, before := range blobs {
		if before.IsZero() {
			if moved, err := p.moved(parents[i], blob); err != nil || moved != "" {
				region.File = moved
				return parents[i], region, err
			}
			continue
		}
		runs, err := p.common(before, blob)
		if err != nil {
			return nil, region, err
		}
		if in, ok := follow(runs, region); ok {
			return parents[i], in, nil
		}
	}
	return nil, region, nil
}

// blob is the content of a file in a commit; zero where there is none.
func (p *past) blob(c *object.Commit, file string) (plumbing.Hash, error) {
	at := place{c.TreeHash, file}
	if hash, known := p.blobs[at]; known {
		return hash, nil
	}
	tree, err := object.GetTree(p.storage, c.TreeHash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var hash plumbing.Hash
	entry, err := entryAt(p.storage, tree, file)
	if err != nil {
		return hash, err
	}
	if entry != nil && isFile(entry.Mode) {
		hash = entry.Hash
	}
	p.blobs[at] = hash
	return hash, nil
}

// moved is the file of a commit that has a content under another name; empty for none.
func (p *past) moved(c *object.Commit, blob plumbing.Hash) (name string, err error) {
	tree, err := object.GetTree(p.storage, c.TreeHash)
	if err != nil {
		return "", err
	}
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for n := 0; n < Limits.withDefaults(Limits{}).Entries; n++ {
		file, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if entry.Hash == blob {
			return file, nil
		}
	}
	return "", nil
}

func (p *past) common(before, after plumbing.Hash) ([]run, error) {
	key := [2]plumbing.Hash{before, after}
	if runs, known := p.runs[key]; known {
		return runs, nil
	}
	var texts [2]string
	for i, hash := range key {
		size, err := p.storage.EncodedObjectSize(hash)
		if err != nil {
			return nil, err
		}
		if size > Limits.withDefaults(Limits{}).FileBytes {
			return nil, nil // no file of desired state
		}
		text, err := readBlob(p.storage, hash)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	p.runs[key] = common(texts[0], texts[1])
	return p.runs[key], nil
}

// common finds the lines that two texts have in common.
func common(before, after string) (runs []run) {
	at := run{before: 1, after: 1}
	for _, d := range diff.DoWithTimeout(before, after, diffTimeout) {
		n := strings.Count(d.Text, "\n")
		if !strings.HasSuffix(d.Text, "\n") {
			n++
		}
		if d.Type == 0 { // equal
			runs = append(runs, run{at.before, at.after, n})
		}
		if d.Type <= 0 {
			at.before += n
		}
		if d.Type >= 0 {
			at.after += n
		}
	}
	return runs
}

// follow finds a region in the text before, where that has it whole.
func follow(runs []run, region Region) (Region, bool) {
	for _, r := range runs {
		if r.after <= region.First && region.Last < r.after+r.lines {
			by := r.before - r.after
			return Region{region.File, region.First + by, region.Last + by}, true
		}
	}
	return region, false
}
