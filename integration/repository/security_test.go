package repository

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

var (
	testNamed    = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	testDeclared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// TestThreatModelNamesTestsThatExist: each claim of the pages of the threat model about what a party
// cannot do is held by a test that is there.
func TestThreatModelNamesTestsThatExist(t *testing.T) {
	declared := map[string]bool{}
	for _, file := range filesUnder(t, harness.Root, ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range testDeclared.FindAllStringSubmatch(harness.ReadText(t, file), -1) {
			declared[found[1]] = true
		}
	}
	page := ""
	for _, name := range []string{"threat-model.md", "threat-model-machine.md"} {
		page += harness.ReadText(t, filepath.Join(harness.Root, "docs", name))
	}
	for _, found := range testNamed.FindAllStringSubmatch(page, -1) {
		if !declared[found[1]] {
			t.Errorf("the threat model names %s, which does not exist", found[1])
		}
	}
	claims := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| cannot |") {
			continue
		}
		if claims++; !testNamed.MatchString(line) {
			t.Errorf("no test holds %s", line)
		}
	}
	if claims < 55 {
		t.Errorf("%d claims", claims)
	}
}
