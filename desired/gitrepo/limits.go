package gitrepo

import "cmp"

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
