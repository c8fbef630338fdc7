package gitrepo_test

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) {
	gittest.Isolate()
	// Many tests wait for a server that is slow or silent.
	soak.AtOnce(8)
	os.Exit(soak.Main(m, 0))
}

func open(t testing.TB) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(filepath.Join(t.TempDir(), "store"))
	must.Do(t, err)
	return r
}

func fetch(t testing.TB, r *gitrepo.Repo, s gitrepo.Source) string {
	t.Helper()
	fetched, err := r.Fetch(context.Background(), s)
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	if fetched.Rebuilt {
		t.Error("the store was rebuilt")
	}
	must.Do(t, r.Tidy(s.Limits, false))
	return fetched.Commit
}

func tree(t testing.TB, r *gitrepo.Repo, hash, path string) *gitrepo.Tree {
	t.Helper()
	files, err := r.Tree(hash, path, gitrepo.Limits{})
	if err != nil {
		t.Fatalf("Tree: %v", err)
	}
	return files
}

func content(t testing.TB, r *gitrepo.Repo, hash, name string) string {
	t.Helper()
	data, err := fs.ReadFile(tree(t, r, hash, "."), name)
	must.Do(t, err)
	return string(data)
}

func basic(user, password string) gitrepo.Auth {
	return gitrepo.Auth{Basic: &gitrepo.Basic{Username: user, Password: edge.NewSecret(password)}}
}

// noise is text that does not compress.
func noise(t testing.TB, size int) string {
	t.Helper()
	b := make([]byte, size)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}
