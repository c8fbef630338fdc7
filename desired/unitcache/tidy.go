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
	for i := range files {
		f := &files[i]
		if _, is := used[f.name]; is && now.Sub(f.used) > usedAgain {
			_ = s.root.Chtimes(f.name, now, now)
			f.used = now
		}
		bytes += f.size
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name))
	})
	for _, f := range files {
		if age := now.Sub(f.used); bytes <= mostBytes && age <= lifetime(f.name) {
			continue
		}
		if s.root.Remove(f.name) == nil {
			bytes -= f.size
		}
	}
}

func lifetime(name string) time.Duration {
	if strings.HasPrefix(name, leftover) {
		return abandoned
	}
	return unused
}

type file struct {
	name string
	size int64
	used time.Time
}

// files lists what can be listed; the rest waits for the next time.
func (s *shelf) files() (files []file) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, file{e.Name(), info.Size(), info.ModTime()})
		}
	}
	return files
}
