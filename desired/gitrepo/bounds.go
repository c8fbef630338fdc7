package gitrepo

import (
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/packbound"
)

// followedPack bounds what one fetch of the followed ref may bring. Go-git makes
// each object of a pack whole in memory, several at a time where they are
// differences of each other: with a chain of objects of 256 MiB a worker of 3 GiB
// takes 1.6 GiB, with 320 MiB it dies (TestLargestPack). All objects together
// are what the time of a fetch suffices for.
var followedPack = packbound.Limits{Objects: 4 << 20, ObjectBytes: 256 << 20, InflatedBytes: 16 << 30}

// boundedStorage is a store that takes packs within bounds.
type boundedStorage struct {
	*filesystem.Storage
	limits packbound.Limits
}

// PackfileWriter implements storer.PackfileWriter.
func (s *boundedStorage) PackfileWriter() (io.WriteCloser, error) {
	w, err := s.Storage.PackfileWriter()
	if err != nil {
		return nil, err
	}
	return packbound.NewWriter(w, s.limits, nil), nil
}

// tooLarge tells which bound a pack was over.
func tooLarge(e *packbound.Error) *Error {
	err := &Error{Kind: ErrTooLarge, Hint: "look for a large file in it or in its base branch"}
	switch e.Bound {
	case packbound.PackBytes:
		err.Reason = fmt.Sprintf("the server sent more than the limit of %s", size(e.Limit))
	case packbound.Objects:
		err.Reason = fmt.Sprintf("it has %d objects, more than the limit of %d", e.Found, e.Limit)
		err.Hint = "keep the desired state in a separate repository"
	case packbound.ObjectBytes:
		err.Reason = fmt.Sprintf("it has an object of %s, over the limit of %s", size(e.Found), size(e.Limit))
	case packbound.InflatedBytes:
		err.Reason = fmt.Sprintf("the unpacked data is larger than the limit of %s", size(e.Limit))
	case packbound.DiskBytes:
		err.Reason = fmt.Sprintf("it takes %s on disk, over the limit of %s", size(e.Found), size(e.Limit))
	}
	return err
}

func refSpec(from string, to plumbing.ReferenceName) config.RefSpec {
	return config.RefSpec("+" + from + ":" + to.String())
}
