package repository

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestCIGoldenSeesWhatAnUpdateChanges runs .ci/golden in a repository of its
// own, with a program named make in place of the update.
func TestCIGoldenSeesWhatAnUpdateChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update string // what the update does
		ok     bool
	}{
		"nothing":            {"true", true},
		"another file":       {"echo more >>notes", true},
		"the same again":     {"echo one >a.golden", true},
		"a golden file":      {"echo two >a.golden", false},
		"a new golden file":  {"echo one >b.golden", false},
		"edited file":        {"echo three >edited.golden", false},
		"a file not added":   {"echo three >fresh.golden", false},
		"a golden file gone": {"rm a.golden", false},
		"a failing update":   {"exit 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runGolden(t, test.update)
			if (err == nil) != test.ok {
				t.Errorf("ended with %v:\n%s", err, out)
			}
		})
	}
}

// runGolden runs the script where a.golden is committed, edited.golden is
// changed since and fresh.golden is not added yet.
func runGolden(t *testing.T, update string) (string, error) {
	t.Helper()
	script := harness.ReadText(t, filepath.Join(harness.Root, ".ci", "golden"))
	bin, repository := programs(t, map[string]string{"make": "#!/bin/sh\n" + update + "\n"}), t.TempDir()
	environment := append(slices.Clone(gittest.Env), pathOf(bin), "HOME="+bin)
	run := func(name string, args ...string) (string, error) {
		command := exec.Command(name, args...)
		command.Dir, command.Env = repository, environment
		out, err := command.CombinedOutput()
		return string(out), err
	}
	prepare := strings.Join([]string{
		"git init -q", "echo one >a.golden", "echo one >edited.golden", "echo one >notes",
		"git add .", "git commit -qm one", "echo two >edited.golden", "echo one >fresh.golden",
	}, " && ")
	if out, err := run("sh", "-c", prepare); err != nil {
		t.Fatalf("preparing a repository: %v: %s", err, out)
	}
	return run("bash", "-c", script, "golden", "*.golden")
}
