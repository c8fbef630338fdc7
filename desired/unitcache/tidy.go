package unitcache

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// How long and how much is kept. The time of a file's last change is that of
// its last use, give or take a day.
const (
	usedAgain = 24 * time.Hour      // a use within it is not noted again
	unused    = 30 * 24 * time.Hour // after it, a unit is dropped
	abandoned = time.Hour           // after it, no one is still writing a file
	mostBytes = 256 << 20           // of all files; the longest unused are dropped first
)

// tidy drops what is no longer used, and notes the use of what is in memory.
// Several processes may tidy at once: what one has dropped is no concern of
// the other's.
func (s *shelf) tidy(now time.Time, used map[string]record) {
	files := s.files()
	var bytes int64
	for i, f := range files {
		if _, is := used[f.Name()]; is && now.Sub(f.ModTime()) > usedAgain {
			_ = s.root.Chtimes(f.Name(), now, now)
			files[i] = touched{f, now}
		}
		bytes += f.Size()
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if age := now.Sub(f.ModTime()); bytes <= mostBytes && age <= lifetime(f.Name()) {
			continue
		}
		if s.root.Remove(f.Name()) == nil {
			bytes -= f.Size()
		}
	}
}

func lifetime(name string) time.Duration {
	if strings.HasPrefix(name, leftover) {
		return abandoned
	}
	return unused
}

type touched struct {
	fs.FileInfo
	at time.Time
}

func (t touched) ModTime() time.Time { return t.at }

// files lists what can be listed; the rest waits for the next time.
func (s *shelf) files() []fs.FileInfo {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files
}
