package gitrepo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// A process that is killed while git's library writes a ref leaves the file
// empty. The next fetch must not stumble over it for ever.
func TestFetchAfterAKilledOne(t *testing.T) {
	u := gittest.New(t)
	r, dir := storeOf(t)
	first := u.Commit("a.cue", "package a")
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	must.Do(t, r.SetGood(first))
	good := filepath.Join(dir, "refs", "seawall", "good")
	emptied := 0
	err := filepath.Walk(filepath.Join(dir, "refs"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && path != good {
			emptied++
			err = os.Truncate(path, 0)
		}
		return err
	})
	if err != nil || emptied == 0 {
		t.Fatalf("emptied %d refs: %v", emptied, err)
	}
	second := u.Commit("a.cue", "package a // more")
	if got := fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}); got != second {
		t.Errorf("fetched %s, want %s", got, second)
	}
	if hash, ok, err := r.Good(); err != nil || !ok || hash != first {
		t.Errorf("good is %s, %v, %v", hash, ok, err)
	}
}
