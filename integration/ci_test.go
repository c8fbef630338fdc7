package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCIVulncheckHidesNothing runs .ci/vulncheck with a program named go that
// says what govulncheck says, and ends as it ends.
func TestCIVulncheckHidesNothing(t *testing.T) {
	script := readText(t, filepath.Join(root, ".ci", "vulncheck"))
	for name, test := range map[string]struct {
		says string
		ends string
		ok   bool
		out  string
	}{
		"clean":       {"No vulnerabilities found.", "0", true, "No vulnerabilities found."},
		"found":       {"Vulnerability #1: GO-2026-0001", "1", false, "GO-2026-0001"},
		"not built":   {"main.go:13:2: reading https://proxy.test/x.zip: 403 Forbidden", "1", false, "403 Forbidden"},
		"no name":     {`govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp: lookup vuln.test: no such host`, "1", true, "cannot be reached"},
		"no route":    {`govulncheck: fetching vulnerabilities: Get "https://vuln.test/index": dial tcp 192.0.2.1:443: connect: connection refused`, "1", true, "cannot be reached"},
		"bad answer":  {"govulncheck: fetching vulnerabilities: HTTP GET https://vuln.test returned unexpected status: 500", "1", false, "unexpected status"},
		"bad message": {"a finding that mentions dial tcp: no such host", "1", false, "a finding"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			fake := "#!/bin/sh\ncat <<'END'\n" + test.says + "\nEND\nexit " + test.ends + "\n"
			if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fake), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("bash", "-c", script, "vulncheck", "./...")
			command.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "GOVULNCHECK=tool@v1"}
			out, err := command.CombinedOutput()
			if (err == nil) != test.ok {
				t.Errorf("ended with %v", err)
			}
			if !strings.Contains(string(out), test.out) {
				t.Errorf("said %q, want %q in it", out, test.out)
			}
		})
	}
}

// TestCIRunsWhatIsPromised: the README's test command, then make check, and
// none of it may fail unseen.
func TestCIRunsWhatIsPromised(t *testing.T) {
	script := readText(t, filepath.Join(root, ".ci", "run"))
	for _, want := range []string{"\nset -euo pipefail\n", "\n\tgo test ./...\n", "\n\tmake check\n"} {
		if !strings.Contains(script, want) {
			t.Errorf(".ci/run does not say %q", want)
		}
	}
	if strings.Contains(script, "|| true") {
		t.Error(".ci/run lets a failure pass")
	}
}
