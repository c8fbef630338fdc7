package gitrepo

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
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
	st := openStorage(r.dir)
	cuts, err := st.Shallow()
	if err != nil {
		return "", storeError("reading", err)
	}
	before, cutBefore, err := ancestors(st, from, cuts)
	if err != nil {
		return "", err
	}
	after, cutAfter, err := ancestors(st, to, cuts)
	if err != nil {
		return "", err
	}
	switch {
	case after[plumbing.NewHash(from)]:
		return Forward, nil
	case before[plumbing.NewHash(to)]:
		return Back, nil
	case cutBefore || cutAfter:
		return "", &Error{
			Kind: ErrShallow, Doing: fmt.Sprintf("looking for %.12s before %.12s", from, to),
			Hint: "set source.shallow to false to have the full history",
		}
	}
	for hash := range before {
		if after[hash] {
			return Rewritten, nil
		}
	}
	return Unrelated, nil
}

// ancestors are a commit and all before it, as far as they were fetched. Cut says that
// there are more.
func ancestors(st *filesystem.Storage, commit string, cuts []plumbing.Hash) (all map[plumbing.Hash]bool, cut bool, err error) {
	start, err := findCommit(st, commit)
	if err != nil {
		return nil, false, err
	}
	all = map[plumbing.Hash]bool{}
	for todo := []plumbing.Hash{start.Hash}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if all[h] {
			continue
		}
		c, err := findCommit(st, h.String())
		if err != nil && len(cuts) > 0 {
			cut = true
			continue
		}
		if err != nil {
			return nil, false, err
		}
		all[h] = true
		todo = append(todo, c.ParentHashes...)
	}
	return all, cut, nil
}
