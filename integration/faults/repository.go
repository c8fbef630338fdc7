package main

import (
	"context"
	"io"
	"net/http/cgi"
	"path/filepath"
	"slices"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
)

// repository is a work tree that people commit in, served over smart HTTP behind
// a front.
type repository struct {
	*front
	harness.WorkTree
}

func startRepository(ctx context.Context, dir string, files map[string]string) (r *repository, err error) {
	r = &repository{}
	if r.WorkTree, err = harness.NewWorkTree(ctx, filepath.Join(dir, "edge.git"), files); err != nil {
		return nil, err
	}
	programs, err := r.Ask(ctx, "--exec-path")
	if err != nil {
		return nil, err
	}
	r.front, err = newFront(&cgi.Handler{
		Path: filepath.Join(programs, "git-http-backend"), Root: "/",
		Env:    append(slices.Clone(gittest.Env), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard, Logger: quiet,
	})
	return r, err
}

func (r *repository) url() string { return "http://" + r.address + "/edge.git" }
