package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/examples"
)

// demoFile is the file of the example that the demo shows and breaks.
const demoFile = "edge.cue"

// demoRepository is a real git repository, made with the git on this machine.
type demoRepository struct {
	dir  string
	head string
}

// newDemoRepository makes a repository with one commit out of an example.
func newDemoRepository(ctx context.Context, dir, example string) (*demoRepository, error) {
	files, err := fs.Sub(examples.Files, example)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return nil, err
	}
	return initRepository(ctx, dir)
}

// initRepository makes a repository with one commit of the files in dir.
func initRepository(ctx context.Context, dir string) (*demoRepository, error) {
	r := &demoRepository{dir: dir}
	if _, err := r.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, err
	}
	return r, r.commitAll(ctx, "Begin")
}

func (r *demoRepository) read(name string) string {
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// commit writes one file and commits it.
func (r *demoRepository) commit(ctx context.Context, name, content, message string) error {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o644); err != nil {
		return err
	}
	return r.commitAll(ctx, message)
}

func (r *demoRepository) commitAll(ctx context.Context, message string) error {
	if _, err := r.git(ctx, "add", "--all"); err != nil {
		return err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--message", message); err != nil {
		return err
	}
	head, err := r.git(ctx, "rev-parse", "HEAD")
	r.head = strings.TrimSpace(head)
	return err
}

// git runs git without the person's own configuration: the demo must look the
// same everywhere and sign nothing.
func (r *demoRepository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@seawall.example",
		"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@seawall.example")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", cli.Fail(errors.New("git is not installed"), "the demo makes a real repository: install git")
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
