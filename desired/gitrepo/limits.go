package gitrepo

import (
	"cmp"
	"fmt"
)

// Limits bound what [Repo.Tree] hands out. A zero field takes its default.
type Limits struct {
	FileBytes int64 // of one visible file; 1 MiB
	TreeBytes int64 // of all visible files; 64 MiB
	Files     int   // visible files; 20,000
	Entries   int   // everything listed below the path, visible or not; 200,000
}

func (l Limits) withDefaults() Limits {
	return Limits{
		FileBytes: cmp.Or(l.FileBytes, 1<<20),
		TreeBytes: cmp.Or(l.TreeBytes, 64<<20),
		Files:     cmp.Or(l.Files, 20_000),
		Entries:   cmp.Or(l.Entries, 200_000),
	}
}

// maxDepth bounds how deep folders nest: a tree object can list itself's
// likes over and over at little cost.
const maxDepth = 64

// maxListing bounds one folder's own listing, in bytes.
const maxListing = 16 << 20

// maxProblems bounds what one look at a tree reports.
const maxProblems = 500

// size renders a number of bytes: "1 MiB", "1.5 MiB", "310 bytes".
func size(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.bytes {
			if n%u.bytes == 0 {
				return fmt.Sprintf("%d %s", n/u.bytes, u.name)
			}
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
