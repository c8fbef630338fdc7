package integration

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/soak"
)

// soakOnly names the tests that go test runs only when -run asks for some, and the
// test that is red before them.
var soakOnly = map[string]string{
	"TestTokensKilledAtRandom": "TestTokensKilledAtEveryStep",
	"TestTokensKilledTwice":    "TestTokensKilledAtEveryStep",
}

// briefly leaves out what only a soak does. Flags are parsed.
func briefly() error {
	if soak.On {
		return nil
	}
	if os.Getenv("RAPID_CHECKS") == "" { // each check has a platform, a ledger and processes
		if err := flag.Set("rapid.checks", "15"); err != nil {
			return err
		}
	}
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		return nil
	}
	var names []string
	for name := range soakOnly {
		names = append(names, "^"+name+"$")
	}
	return flag.Set("test.skip", strings.Join(names, "|"))
}

// TestSoakNamesTests: what a soak alone runs is there, and so is what is red before it.
func TestSoakNamesTests(t *testing.T) {
	var text strings.Builder
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text.WriteString(readText(t, name))
	}
	for name, before := range soakOnly {
		for _, name := range []string{name, before} {
			if !strings.Contains(text.String(), "\nfunc "+name+"(t *testing.T) {\n") {
				t.Errorf("there is no test %s", name)
			}
		}
	}
}
