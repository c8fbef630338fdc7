package main

import (
	"errors"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/rogpeppe/go-internal/testscript"
)

// commit is the script command of that name.
func commit(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "commit DIR MESSAGE")
	dir := ts.MkAbs(args[0])
	options := git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: plumbing.Main}}
	repository, err := git.PlainInitWithOptions(dir, &options)
	if errors.Is(err, git.ErrRepositoryAlreadyExists) {
		repository, err = git.PlainOpen(dir)
	}
	ts.Check(err)
	tree, err := repository.Worktree()
	ts.Check(err)
	ts.Check(tree.AddWithOptions(&git.AddOptions{All: true}))
	author := object.Signature{Name: "T", Email: "t@example.com", When: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	_, err = tree.Commit(args[1]+"\n", &git.CommitOptions{AllowEmptyCommits: true, Author: &author})
	ts.Check(err)
}
