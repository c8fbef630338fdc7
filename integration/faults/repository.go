package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// gitEnv makes git the same on every machine.
var gitEnv = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
}

// repository is a work tree that people commit in, served over smart HTTP behind
// a front.
type repository struct {
	*front
	dir string
}

func startRepository(ctx context.Context, dir string, files map[string]string) (*repository, error) {
	r := &repository{dir: filepath.Join(dir, "edge.git")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	if err := r.commit(ctx, "declare the fleet", files); err != nil {
		return nil, err
	}
	programs, err := r.git(ctx, "--exec-path")
	if err != nil {
		return nil, err
	}
	r.front, err = newFront(&cgi.Handler{
		Path: filepath.Join(programs, "git-http-backend"), Root: "/",
		Env:    append(slices.Clone(gitEnv), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard, Logger: quiet,
	})
	return r, err
}

func (r *repository) url() string { return "http://" + r.address + "/edge.git" }

// commit writes files and commits everything there is.
func (r *repository) commit(ctx context.Context, message string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return r.each(ctx, []string{"add", "-A"}, []string{"commit", "-q", "-m", message})
}

// each runs git commands one after the other.
func (r *repository) each(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if _, err := r.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), gitEnv...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}
