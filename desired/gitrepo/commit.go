package gitrepo

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// CommitInfo is what a report says of a commit.
type CommitInfo struct {
	Hash    string
	Author  string // "Ada Lovelace <ada@example.com>", as written by whoever committed
	Time    time.Time
	Subject string // the first line of the message
}

// Commit returns what a commit says of itself. The time is the committer's:
// when the commit came to be where it is. It returns [ErrNoCommit].
func (r *Repo) Commit(hash string) (CommitInfo, error) {
	c, err := again(r, func() (*object.Commit, error) { return findCommit(openStorage(r.dir), hash) })
	if err != nil {
		return CommitInfo{}, err
	}
	return infoOf(c), nil
}

func infoOf(c *object.Commit) CommitInfo {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return CommitInfo{
		Hash: c.Hash.String(), Author: fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email),
		Time: c.Committer.When, Subject: strings.TrimSpace(subject),
	}
}

func findCommit(st *filesystem.Storage, hash string) (*object.Commit, error) {
	if !plumbing.IsHash(hash) {
		return nil, noCommit(hash, errors.New("it is not 40 hexadecimal digits"))
	}
	c, err := object.GetCommit(st, plumbing.NewHash(hash))
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, noCommit(hash, err)
	case err != nil: // unreadable is not absent
		return nil, storeError("reading", err)
	}
	return c, nil
}

// SetGood remembers the last commit that compiled, through restarts and
// compaction. It returns [ErrNoCommit] for a commit that is not in the store.
func (r *Repo) SetGood(hash string) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	st := openStorage(r.dir)
	c, err := findCommit(st, hash)
	if err != nil {
		return err
	}
	return r.writeRef(refGood, c.Hash)
}

// Good returns the commit that [Repo.SetGood] remembered last. It is false
// when there never was one; a store that cannot be read is an error.
func (r *Repo) Good() (hash string, ok bool, err error) {
	st := openStorage(r.dir)
	ref, err := st.Reference(refGood)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, storeError("reading", err)
	}
	info, err := r.Commit(ref.Hash().String())
	if err != nil {
		return "", false, err
	}
	return info.Hash, true, nil
}
