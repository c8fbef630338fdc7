package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit commits what is there, with pairs of name and content on top, and
// returns the commit.
func (r *Repository) Commit(pairs ...string) string {
	r.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		r.Write(pairs[i], pairs[i+1])
	}
	message := fmt.Sprintf("Change %d files", len(pairs)/2)
	if r.plain() {
		return r.commit(message)
	}
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.Head()
}

// commit commits the work tree within this process, which takes a seventh of the CPU time
// of two processes of git.
func (r *Repository) commit(message string) string {
	r.t.Helper()
	repo, err := git.PlainOpen(r.Dir)
	if err != nil {
		r.t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		r.t.Fatalf("adding: %v", err)
	}
	ada := &object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Now()}
	hash, err := tree.Commit(message+"\n", &git.CommitOptions{AllowEmptyCommits: true, Author: ada, Committer: ada})
	if err != nil {
		r.t.Fatalf("committing: %v", err)
	}
	return hash.String()
}

// Tree returns the tree of the commit that is checked out.
func (r *Repository) Tree() string {
	r.t.Helper()
	return r.Git("rev-parse", "HEAD^{tree}")
}

// maxIndex is the size of an index, in bytes, above which git itself is quicker: some 200
// files.
const maxIndex = 16 << 10

// plain reports whether a commit needs nothing that only git itself does: dates of the
// environment, hooks, signatures, submodules, merges.
func (r *Repository) plain() bool {
	for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	dir := filepath.Join(r.Dir, ".git")
	for _, name := range []string{"MERGE_HEAD", "../.gitmodules", "modules", "shallow", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return false
		}
	}
	hooks, err := os.ReadDir(filepath.Join(dir, "hooks"))
	if err != nil || len(hooks) > 0 {
		return false
	}
	if index, err := os.Stat(filepath.Join(dir, "index")); err == nil && index.Size() > maxIndex {
		return false
	}
	settings, err := os.ReadFile(filepath.Join(dir, "config"))
	return err == nil && string(settings) == config
}
