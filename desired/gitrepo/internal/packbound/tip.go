package packbound

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Tip is the commit that a pack was asked for, and who judges it. Servers send commits
// before trees and files, the newest first, so that it is judged before anything else
// of the pack is inflated. Wherever it stands in the pack, it is judged before the pack
// is unpacked.
type Tip struct {
	Commit plumbing.Hash
	// Accept judges the raw bytes of the commit. Its error refuses the pack, and is
	// returned by the [Writer].
	Accept func(raw []byte) error
}

const (
	// maxCommit bounds one commit that is kept to find the tip, maxKept all of them. A
	// tip that is a difference from an older commit takes at most those of its chain.
	maxCommit = 4 << 20
	maxKept   = 64 << 20
)

// finder looks for the tip among the commits of a pack.
type finder struct {
	tip  *Tip // nil: there is none, or it was found
	kept int64
	at   map[int64][]byte // commits by their place in the pack
	as   map[plumbing.Hash][]byte
}

func newFinder(tip *Tip) *finder {
	return &finder{tip: tip, at: map[int64][]byte{}, as: map[plumbing.Hash][]byte{}}
}

// wants reports whether an object may be the tip, or lead to it.
func (f *finder) wants(o *packfile.ObjectHeader) bool {
	if f.tip == nil || o.Length > maxCommit {
		return false
	}
	return o.Type == plumbing.CommitObject || f.base(o) != nil
}

// base is the commit that a difference begins with; nil for none that is kept.
func (f *finder) base(o *packfile.ObjectHeader) []byte {
	switch o.Type {
	case plumbing.OFSDeltaObject:
		return f.at[o.OffsetReference]
	case plumbing.REFDeltaObject:
		return f.as[o.Reference]
	}
	return nil
}

// found takes the content of an object that the finder wants: of a commit itself, or
// the difference from one. Whole is what the difference leads to, in bytes.
func (f *finder) found(o *packfile.ObjectHeader, content []byte, whole int64) error {
	if base := f.base(o); base != nil {
		if whole > maxCommit {
			return nil
		}
		var err error
		if content, err = packfile.PatchDelta(base, content); err != nil {
			return nil //nolint:nilerr // what unpacks the pack says so, with its place
		}
	}
	hash := plumbing.ComputeHash(plumbing.CommitObject, content)
	if hash == f.tip.Commit {
		accept := f.tip.Accept
		f.tip, f.at, f.as = nil, nil, nil
		return accept(content)
	}
	if f.kept += int64(len(content)); f.kept > maxKept {
		f.tip, f.at, f.as = nil, nil, nil // whoever reads the commit after the fetch judges it
		return nil
	}
	f.at[o.Offset], f.as[hash] = content, content
	return nil
}
