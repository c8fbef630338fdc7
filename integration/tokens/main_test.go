package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// soakOnly names the tests that go test runs only when -run asks for some, and the
// test that is red before them.
var soakOnly = map[string]string{
	"TestTokensKilledAtRandom": "TestTokensKilledAtEveryStep",
	"TestTokensKilledTwice":    "TestTokensKilledAtEveryStep",
}

func TestMain(m *testing.M) {
	crashWhenTold()
	os.Exit(harness.Main(m, soakOnly))
}

// TestSoakNamesTests: what a soak alone runs is there, and so is what is red before it.
func TestSoakNamesTests(t *testing.T) {
	var text strings.Builder
	files, err := filepath.Glob("*_test.go")
	must.Do(t, err)
	for _, name := range files {
		text.WriteString(harness.ReadText(t, name))
	}
	for name, before := range soakOnly {
		for _, name := range []string{name, before} {
			if !strings.Contains(text.String(), "\nfunc "+name+"(t *testing.T) {\n") {
				t.Errorf("there is no test %s", name)
			}
		}
	}
}
