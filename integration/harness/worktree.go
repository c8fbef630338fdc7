package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// WorkTree is a repository as people commit to it, for programs that are not tests: see
// [gittest.Repository].
type WorkTree struct{ Dir string }

// NewWorkTree makes a repository with a first commit, in a folder that it makes.
func NewWorkTree(ctx context.Context, dir string, files map[string]string) (WorkTree, error) {
	w := WorkTree{dir}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return w, err
	}
	if err := w.Git(ctx, "init", "-q", "-b", "main"); err != nil {
		return w, err
	}
	return w, w.Commit(ctx, "declare the fleet", files)
}

// Commit writes files and commits everything there is.
func (w WorkTree) Commit(ctx context.Context, message string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(w.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := w.Git(ctx, "add", "-A"); err != nil {
		return err
	}
	return w.Git(ctx, "commit", "-q", "-m", message)
}

// Each runs git commands one after the other, each a line of words.
func (w WorkTree) Each(ctx context.Context, commands ...string) error {
	for _, command := range commands {
		if err := w.Git(ctx, strings.Fields(command)...); err != nil {
			return err
		}
	}
	return nil
}

// Git runs git.
func (w WorkTree) Git(ctx context.Context, args ...string) error {
	_, err := w.Ask(ctx, args...)
	return err
}

// Ask returns what git prints.
func (w WorkTree) Ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = w.Dir, append(os.Environ(), gittest.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}
