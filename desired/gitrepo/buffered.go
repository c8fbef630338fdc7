package gitrepo

import (
	"bufio"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// bufferedIndexes are the files of a store. Go-git asks the kernel for each number in the first
// 1,032 bytes of an index, of each pack, whenever a store is opened.
type bufferedIndexes struct{ rootedFiles }

// rootedFiles is what go-git uses of files below a folder.
type rootedFiles interface {
	billy.Filesystem
	billy.Chmod
	billy.Capable
}

func filesBelow(dir string) billy.Filesystem {
	files := osfs.New(dir)
	if rooted, ok := files.(rootedFiles); ok {
		return bufferedIndexes{rooted}
	}
	return files
}

// Open implements billy.Basic.
func (b bufferedIndexes) Open(name string) (billy.File, error) {
	file, err := b.rootedFiles.Open(name)
	if err != nil || !strings.HasSuffix(name, ".idx") {
		return file, err
	}
	return bufferedFile{file, bufio.NewReaderSize(file, 32<<10)}, nil
}

// bufferedFile is a file that is read from its beginning to its end.
type bufferedFile struct {
	billy.File
	in *bufio.Reader
}

// Read implements io.Reader.
func (f bufferedFile) Read(p []byte) (int, error) { return f.in.Read(p) }
