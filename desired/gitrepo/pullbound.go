package gitrepo

import (
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// boundedStorage is a store that takes no more than so many bytes of packs.
type boundedStorage struct {
	*filesystem.Storage
	left, limit int64
}

// PackfileWriter implements storer.PackfileWriter.
func (s *boundedStorage) PackfileWriter() (io.WriteCloser, error) {
	w, err := s.Storage.PackfileWriter()
	if err != nil {
		return nil, err
	}
	return &boundedWriter{w, s}, nil
}

type boundedWriter struct {
	io.WriteCloser
	storage *boundedStorage
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.storage.left -= int64(len(p)); w.storage.left < 0 {
		return 0, &Error{
			Kind: ErrTooLarge, Doing: "fetching a pull request",
			Reason: fmt.Sprintf("more than the bound of %s was sent", size(w.storage.limit)),
			Hint:   "look for a large file in it, or in the branch that it is based on",
		}
	}
	return w.WriteCloser.Write(p)
}

func refSpec(from string, to plumbing.ReferenceName) config.RefSpec {
	return config.RefSpec("+" + from + ":" + to.String())
}
