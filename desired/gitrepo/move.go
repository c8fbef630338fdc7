package gitrepo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Move is how a ref came from one commit to another.
type Move string

// The values of [Move].
const (
	Forward   Move = "forward"   // the new commit contains the old one
	Back      Move = "back"      // the old commit contains the new one
	Rewritten Move = "rewritten" // both go back to a common commit
	Unrelated Move = "unrelated" // they have no commit in common
)

// Move says how a ref came from one commit to another. Where the history is cut before
// there is an answer it returns [ErrShallow], and [ErrNoCommit] where a commit is not in
// the store.
func (r *Repo) Move(from, to string) (Move, error) {
	return again(r, func() (Move, error) { return r.moved(from, to) })
}

func (r *Repo) moved(from, to string) (Move, error) {
	st := readStorage(r.dir)
	defer st.Close()
	cut, err := isShallow(st)
	if err != nil {
		return "", storeError("reading", err)
	}
	if _, err := findCommit(st, from); err != nil {
		return "", err
	}
	after, err := ancestors(st, to, from, cut)
	if err != nil {
		return "", err
	}
	if after.seen[plumbing.NewHash(from)] {
		return Forward, nil
	}
	before, err := ancestors(st, from, to, cut)
	if err != nil {
		return "", err
	}
	switch {
	case before.seen[plumbing.NewHash(to)]:
		return Back, nil
	case before.ends || after.ends:
		return "", &Error{
			Kind: ErrShallow, Doing: fmt.Sprintf("looking for %.12s before %.12s", from, to),
			Hint: "set source.shallow to false to have the full history",
		}
	}
	if slices.ContainsFunc(before.found, func(h plumbing.Hash) bool { return after.seen[h] }) {
		return Rewritten, nil
	}
	return Unrelated, nil
}

// ancestors are a commit and those before it, as far as they were fetched: all of them, or those
// up to one that is looked for, which mostly is the next.
func ancestors(st *filesystem.Storage, commit, until string, cut bool) (*reach, error) {
	start, err := findCommit(st, commit)
	if err != nil {
		return nil, err
	}
	all := newReach(st)
	all.mayEnd = cut
	err = all.history(start.Hash, false, func(c *object.Commit) error {
		if c.Hash.String() == until {
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, storeError("reading", err)
	}
	return all, nil
}

// errFound ends a search.
var errFound = errors.New("found")
