package compile

import (
	"fmt"
	"path"
	"strings"
)

// Limits bounds what is read and evaluated.
type Limits struct {
	FileBytes int64 // of one file
	TreeBytes int64 // of all CUE files
	Files     int

	// Declarations of one folder, zones and tokens together. CUE's cost grows
	// with the square of a struct's width: at 10,000 fields it is already
	// twice that of the same fields in folders of 100.
	WarnDeclarations int
	MaxDeclarations  int
}

// DefaultLimits is what this package holds trees to.
var DefaultLimits = Limits{
	FileBytes:        1 << 20,
	TreeBytes:        64 << 20,
	Files:            20_000,
	WarnDeclarations: 2_000,
	MaxDeclarations:  10_000,
}

// counter adds up a tree and refuses the file that is one too many.
type counter struct {
	limits Limits
	files  int
	bytes  int64
}

func (c *counter) add(name string, size int64) error {
	c.files++
	c.bytes += size
	switch {
	case size > c.limits.FileBytes:
		return refuse(name, fmt.Sprintf("the file has %s; the limit is %s", bytes(size), bytes(c.limits.FileBytes)), "split it into several files, preferably in separate folders")
	case c.files > c.limits.Files:
		return refuse(path.Dir(name), fmt.Sprintf("the tree has more than %d CUE files", c.limits.Files), "put several zones into one file, or split the repository")
	case c.bytes > c.limits.TreeBytes:
		return refuse(path.Dir(name), fmt.Sprintf("the CUE files of the tree have more than %s", bytes(c.limits.TreeBytes)), "move what zones share into definitions, or split the repository")
	}
	return nil
}

// bytes writes a size in the largest unit that it is a whole number of, if any.
func bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%d bytes", n))
}
