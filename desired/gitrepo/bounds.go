package gitrepo

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/failure"
	"github.com/seawall-dev/seawall/desired/gitrepo/internal/packbound"
)

// FetchLimits bound what one fetch may bring, and what a store may take. A zero field
// takes its default.
type FetchLimits struct {
	// What is fetched unpacks to: objects, bytes of one object, and bytes of all of them
	// together; 4,194,304, 256 MiB and 16 GiB. Go-git makes each object of a pack whole in
	// memory, several at a time where they are differences of each other: with a chain of
	// objects of 256 MiB a worker of 3 GiB takes 1.6 GiB, with 320 MiB it dies
	// (TestLargestPack).
	Objects       int64 `json:"objects,omitempty"`
	ObjectBytes   int64 `json:"object_bytes,omitempty"`
	UnpackedBytes int64 `json:"unpacked_bytes,omitempty"`
	PackBytes     int64 `json:"pack_bytes,omitempty"`  // sent, compressed; no bound but StoreBytes
	StoreBytes    int64 `json:"store_bytes,omitempty"` // of the store's folder; 4 GiB
	// RoomBytes is what is left of StoreBytes by what is beside the store; zero is all.
	RoomBytes int64 `json:"room_bytes,omitempty"`
	// Setting is where a configuration has these limits, for hints: "source.limits".
	Setting string `json:"setting,omitempty"`
}

func (l FetchLimits) withDefaults() FetchLimits {
	l.Objects = cmp.Or(l.Objects, 4<<20)
	l.ObjectBytes = cmp.Or(l.ObjectBytes, 256<<20)
	l.UnpackedBytes = cmp.Or(l.UnpackedBytes, 16<<30)
	l.StoreBytes = cmp.Or(l.StoreBytes, 4<<30)
	l.Setting = cmp.Or(l.Setting, "source.limits")
	return l
}

// room is what a store of a folder may still take.
func (l FetchLimits) room(dir string) int64 {
	left := l.StoreBytes - usedBytes(dir)
	if l.RoomBytes > 0 {
		left = min(left, l.RoomBytes)
	}
	return left
}

// same reports whether what is over one of the limits is over the others.
func (l FetchLimits) same(other FetchLimits) bool {
	l.RoomBytes, other.RoomBytes = 0, 0
	return l == other
}

// ofPack are the limits of a pack that comes into a store with so much room.
func (l FetchLimits) ofPack(room int64) packbound.Limits {
	return packbound.Limits{
		PackBytes: l.PackBytes, Objects: l.Objects, ObjectBytes: l.ObjectBytes, InflatedBytes: l.UnpackedBytes,
		DiskBytes: max(room, 1), // zero is no bound
	}
}

// boundedStorage is a store that takes packs within bounds, and no pack whose tip is
// refused.
type boundedStorage struct {
	*filesystem.Storage
	limits packbound.Limits
	tip    func() *packbound.Tip // asked when a pack comes; nil answers: it is not judged
	refuse func()                // called when a pack is refused
}

// PackfileWriter implements storer.PackfileWriter.
func (s *boundedStorage) PackfileWriter() (io.WriteCloser, error) {
	w, err := s.Storage.PackfileWriter()
	if err != nil {
		return nil, err
	}
	return &refusing{packbound.NewWriter(w, s.limits, s.tip()), s.refuse}, nil
}

// refusing says so when a pack is refused.
type refusing struct {
	io.WriteCloser
	refuse func()
}

func (r *refusing) Write(p []byte) (int, error) {
	n, err := r.WriteCloser.Write(p)
	if err != nil {
		r.refuse()
	}
	return n, err
}

// tooLarge tells which bound a pack was over, and which setting raises it.
func (l FetchLimits) tooLarge(e *packbound.Error) *Error {
	err := &Error{Kind: ErrTooLarge}
	hint, setting := "look for a large file in the commits", ""
	switch e.Bound {
	case packbound.PackBytes:
		err.Reason, setting = fmt.Sprintf("the server sent more than the limit of %s", failure.Bytes(e.Limit)), "pack"
	case packbound.Objects:
		err.Reason, setting = fmt.Sprintf("it has %d objects, more than the limit of %d", e.Found, e.Limit), "objects"
		hint = "keep the desired state in a separate repository"
	case packbound.ObjectBytes:
		err.Reason, setting = fmt.Sprintf("it has an object of %s, over the limit of %s", failure.Bytes(e.Found), failure.Bytes(e.Limit)), "object"
	case packbound.InflatedBytes:
		err.Reason, setting = fmt.Sprintf("the unpacked data is larger than the limit of %s", failure.Bytes(e.Limit)), "unpacked"
	case packbound.DiskBytes:
		err.Reason, setting = fmt.Sprintf("the local store would take more than the limit of %s", failure.Bytes(l.StoreBytes)), "store"
		if err.From = errStoreFull; l.RoomBytes > 0 {
			err.From = errNoRoom
		}
	}
	err.Hint = fmt.Sprintf("%s; %s.%s sets the limit", hint, l.Setting, setting)
	return err
}

// usedBytes is what the files below a folder take. Files that go meanwhile do not count.
func usedBytes(dir string) (used int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // what is gone takes nothing
		}
		if info, err := entry.Info(); err == nil {
			used += info.Size()
		}
		return nil
	})
	return used
}

func refSpec(from string, to plumbing.ReferenceName) config.RefSpec {
	return config.RefSpec("+" + from + ":" + to.String())
}
