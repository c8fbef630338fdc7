package repository

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestDependenciesAreExplained compares docs/dependencies.md with go.mod.
func TestDependenciesAreExplained(t *testing.T) {
	required := directRequirements(t)
	explained := explainedDependencies(t)
	for _, name := range slices.Sorted(maps.Keys(required)) {
		switch {
		case explained[name] == "":
			t.Errorf("go.mod requires %s and docs/dependencies.md does not say why", name)
		case explained[name] != required[name]:
			t.Errorf("docs/dependencies.md speaks of %s %s, go.mod requires %s: look at its upkeep again, then mend version and date",
				name, explained[name], required[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		if required[name] == "" {
			t.Errorf("docs/dependencies.md explains %s, which go.mod does not require directly", name)
		}
	}
}

// directRequirements returns the modules that go.mod requires without the
// comment "indirect", and their versions.
func directRequirements(t *testing.T) map[string]string {
	t.Helper()
	command := exec.Command("go", "mod", "edit", "-json")
	command.Dir = harness.Root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("reading go.mod: %v", err)
	}
	var file struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
	}
	must.Do(t, json.Unmarshal(out, &file))
	direct := map[string]string{}
	for _, r := range file.Require {
		if !r.Indirect {
			direct[r.Path] = r.Version
		}
	}
	return direct
}

var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v[^ ]+) \\| \\d{4}-\\d{2} \\| [^|]+ \\| [^|]+ \\|$")

// explainedDependencies returns the modules of the page's tables and the
// versions they speak of.
func explainedDependencies(t *testing.T) map[string]string {
	t.Helper()
	page := harness.ReadText(t, filepath.Join(harness.Root, "docs", "dependencies.md"))
	explained := map[string]string{}
	for _, row := range dependencyRow.FindAllStringSubmatch(page, -1) {
		if explained[row[1]] != "" {
			t.Errorf("docs/dependencies.md explains %s twice", row[1])
		}
		explained[row[1]] = row[2]
	}
	return explained
}
