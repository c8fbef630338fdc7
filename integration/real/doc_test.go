// These tests let Seawall meet real programs; see the package.
package real_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestMain(m *testing.M) {
	gittest.Isolate()
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // where Debian has servers
	os.Exit(m.Run())
}

// only skips a test unless `make real` runs it.
func only(t testing.TB) {
	t.Helper()
	if os.Getenv("SEAWALL_TEST_REAL") == "" {
		t.Skip("make real runs this: it needs root, or takes minutes")
	}
}

// built is a file of `make release-snapshot`.
func built(t testing.TB, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(harness.Root, "dist", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("dist/ has %d files %s; run make release-snapshot", len(found), pattern)
	}
	path, err := filepath.Abs(found[0])
	must.Do(t, err)
	return path
}
