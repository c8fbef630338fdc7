//go:build unix

package trusted_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/integration/must"
)

// What others may write to, or replace, is not read; what can only be read by them is.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		file, folder fs.FileMode
		refused      string // the name of what others may write to
	}{
		"private":                {0o600, 0o700, ""},
		"readable":               {0o644, 0o755, ""},
		"writable":               {0o666, 0o755, "file"},
		"in a folder":            {0o600, 0o777, "folder"},
		"in a folder like /tmp":  {0o600, 0o777 | fs.ModeSticky, ""},
		"writable in one of own": {0o606, 0o700, "file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "folder")
			path := filepath.Join(folder, "file")
			link := filepath.Join(t.TempDir(), "link")
			must.Do(t, errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(path, []byte("key"), 0o600), os.Symlink(path, link),
				os.Chmod(path, test.file), os.Chmod(folder, test.folder)))
			for _, path := range []string{path, link} {
				data, err := trusted.Read(path, 10)
				var exposed *trusted.Error
				switch {
				case test.refused == "" && (err != nil || string(data) != "key"):
					t.Errorf("read %q, %v", data, err)
				case test.refused != "" && (!errors.As(err, &exposed) || !strings.HasPrefix(exposed.Advice(), "chmod go-w ")):
					t.Errorf("got %v, which does not refuse %s", err, test.refused)
				}
			}
		})
	}
}

func TestReadBoundedRegular(t *testing.T) {
	folder := t.TempDir()
	fifo, large := filepath.Join(folder, "fifo"), filepath.Join(folder, "large")
	must.Do(t, errors.Join(syscall.Mkfifo(fifo, 0o600), os.WriteFile(large, make([]byte, 11), 0o600)))
	for _, path := range []string{fifo, folder, "/dev/null"} {
		if _, err := trusted.Read(path, 10); !errors.Is(err, trusted.ErrIrregular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := trusted.Read(large, 10); err == nil {
		t.Error("a file over the bound was read")
	}
	if _, err := trusted.Read(filepath.Join(folder, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
