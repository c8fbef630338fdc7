package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestCIVulncheckUsesAGivenDatabase: govulncheck gets the database that GOVULNDB names, and
// one that cannot be reached is a failure then.
func TestCIVulncheckUsesAGivenDatabase(t *testing.T) {
	script := harness.ReadText(t, filepath.Join(harness.Root, ".ci", "vulncheck"))
	database := "file://" + t.TempDir()
	for name, test := range map[string]struct {
		database, says, ends string
		ok                   bool
		out                  string
	}{
		"a folder":       {database, "fine", "0", true, "run tool@v1 -db " + database + " ./..."},
		"none":           {"", "fine", "0", true, "run tool@v1 ./..."},
		"no folder":      {database + "/missing", "fine", "0", false, "is not a folder"},
		"another scheme": {"/srv/vulndb", "fine", "0", false, "must begin with file:// or https://"},
		"unreachable":    {"https://vuln.test", `govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp: lookup vuln.test: no such host`, "1", false, "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			fake := "#!/bin/sh\necho \"$*\"\ncat <<'END'\n" + test.says + "\nEND\nexit " + test.ends + "\n"
			if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fake), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("bash", "-c", script, "vulncheck", "./...")
			command.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "GOVULNCHECK=tool@v1", "GOVULNDB=" + test.database}
			out, err := command.CombinedOutput()
			if (err == nil) != test.ok || !strings.Contains(string(out), test.out) {
				t.Errorf("ended with %v and said %q, want %q in it", err, out, test.out)
			}
		})
	}
}
