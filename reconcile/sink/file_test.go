package sink

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "made")
	s := fileSink(t, root)
	deliver := func(key string, value edge.Secret) {
		t.Helper()
		where := desired.Sink{Name: "f", Key: key}
		must.Do(t, s.Check(where))
		must.Do(t, s.Deliver(t.Context(), where, value))
	}
	deliver("token", secret)
	deliver("a/b/token", secret)
	deliver("a/b/token", secret) // again
	deliver("a/other", secret)
	deliver("a/other", edge.NewSecret("next")) // a shorter one replaces it whole
	want := map[string]string{
		"token": "-rw------- " + secret.Reveal(), "a": "drwx------", "a/b": "drwx------",
		"a/b/token": "-rw------- " + secret.Reveal(), "a/other": "-rw------- next", ".": "drwx------",
	}
	if d := cmp.Diff(want, tree(t, root)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

// TestFileReplaces what it finds: a file that others may read, a link, and what
// a killed process left.
func TestFileReplaces(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	for name, text := range map[string]string{outside: "untouched", filepath.Join(root, "wide"): "old", filepath.Join(root, "left"+unfinished): "half"} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o666))
	}
	must.Do(t, os.Symlink(outside, filepath.Join(root, "link")))
	s := fileSink(t, root)
	for _, key := range []string{"wide", "link", "left"} {
		if err := s.Deliver(t.Context(), desired.Sink{Name: "f", Key: key}, secret); err != nil {
			t.Error(err)
		}
	}
	for name, got := range tree(t, root) {
		if name != "." && got != "-rw------- "+secret.Reveal() {
			t.Errorf("%s is %.12s…", name, got)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "untouched" {
		t.Errorf("outside: %q %v", text, err)
	}
}

// TestFileStaysInside: no link leads out, be it absolute, relative or hidden
// behind another, and nothing is written on the way.
func TestFileStaysInside(t *testing.T) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	for _, dir := range []string{root, outside, filepath.Join(root, "folder")} {
		must.Do(t, os.Mkdir(dir, 0o700))
	}
	for name, target := range map[string]string{"absolute": outside, "relative": "../outside", "second": "relative", "up": ".."} {
		must.Do(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must.Do(t, os.WriteFile(filepath.Join(root, "plain"), nil, 0o600))
	s := fileSink(t, root)
	for key, want := range map[string]string{
		"absolute/k": "escapes", "relative/k": "escapes", "second/k": "escapes", "up/outside/k": "escapes", "second/new/k": "escapes",
		"plain/k": "not a directory", "folder": "there is a folder of that name", "k" + unfinished: "the key cannot end in .seawall-new",
	} {
		wantBoth(t, s, desired.Sink{Name: "f", Key: key}, want)
	}
	if got := tree(t, outside); len(got) != 1 {
		t.Errorf("written outside: %v", got)
	}
}

// TestFileWithoutRoot: one folder is made, a path is not made up.
func TestFileWithoutRoot(t *testing.T) {
	s := fileSink(t, filepath.Join(t.TempDir(), "no", "such"))
	wantBoth(t, s, desired.Sink{Name: "f", Key: "k"}, "no such file")
}

// TestFileWholeAtAnyTime: while one secret replaces another, a reader sees one
// of them, to the last byte.
func TestFileWholeAtAnyTime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, where := fileSink(t, root), desired.Sink{Name: "f", Key: "k"}
	other := edge.NewSecret("another, of another length")
	must.Do(t, s.Deliver(t.Context(), where, secret))
	var writers sync.WaitGroup
	for _, value := range []edge.Secret{secret, other} {
		writers.Go(func() {
			for range 50 {
				if err := s.Deliver(t.Context(), where, value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		text, err := os.ReadFile(filepath.Join(root, "k"))
		if got := edge.NewSecret(string(text)); err != nil || !got.Equal(secret) && !got.Equal(other) {
			t.Fatalf("a reader saw %d bytes, %v", len(text), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func fileSink(t *testing.T, root string) *Sinks {
	return mustNew(t, map[string]Config{"f": {File: &File{Root: root}}})
}

// tree returns all that is below a folder: modes, and the content of files.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found[below] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			found[below] += " " + string(text)
			return err
		}
		return nil
	})
	must.Do(t, err)
	return found
}
