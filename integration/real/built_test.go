package real_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// module is a program that is built from a Go module as others publish it.
type module struct {
	path, version string
	program       string // the package of its command
	tags          string
	cgo           string // 0 or 1
	// goMod makes the go.mod of a scratch module that may build it, out of the module's own:
	// what a module replaces or pins is not in force where another one requires it.
	goMod func(own string) string
	keep  []string // folders of the module that the program reads
	edit  *edited  // nil where the modules that it requires are those that it was made with
}

// edited is a module that is built with other lines, in the folder edited of the scratch
// module.
type edited struct {
	path, version string
	lines         []line
}

// line is one that is there once.
type line struct{ file, old, new string }

// downloaded is what `go mod download -json` says.
type downloaded struct{ Dir, GoMod, Error string }

// kept is the folder of a program that is kept for the next run.
func kept(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("there is no folder to keep programs in: %v", err)
	}
	return filepath.Join(cache, "seawall-real", name)
}

// build builds the program once for this machine, and returns the folder with it, named as
// the last element of its package, and with what it reads. The test is skipped, with the
// reason, where it cannot be built.
func (m module) build(t testing.TB) (folder string) {
	t.Helper()
	name := filepath.Base(m.program)
	folder = kept(t, name+"-"+m.version)
	if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
		return folder
	}
	scratch := t.TempDir()
	own, err := m.download(scratch)
	if err != nil {
		t.Skipf("%s %s cannot be had: %v", m.path, m.version, err)
	}
	writeFile(t, filepath.Join(scratch, "go.mod"), m.goMod(harness.ReadText(t, own.GoMod)))
	if sums, err := os.ReadFile(filepath.Join(own.Dir, "go.sum")); err == nil {
		writeFile(t, filepath.Join(scratch, "go.sum"), string(sums))
	}
	if m.edit != nil {
		m.place(t, scratch)
	}
	t.Logf("building %s %s takes minutes, once", m.path, m.version)
	if out, err := m.command(scratch, "build", "-trimpath", "-tags", m.tags, "-o", name, m.program).CombinedOutput(); err != nil {
		t.Skipf("%s %s cannot be built: %v\n%s", m.path, m.version, err, last(string(out), 20))
	}
	for _, each := range m.keep {
		copyFolder(t, filepath.Join(own.Dir, each), filepath.Join(folder, each))
	}
	must.Do(t, os.MkdirAll(folder, 0o755))
	run(t, exec.Command("cp", filepath.Join(scratch, name), filepath.Join(folder, name+".part")))
	must.Do(t, os.Rename(filepath.Join(folder, name+".part"), filepath.Join(folder, name)))
	return folder
}

// place copies the module of which lines are edited into the scratch module.
func (m module) place(t testing.TB, scratch string) {
	t.Helper()
	own, err := module{path: m.edit.path, version: m.edit.version, cgo: m.cgo}.download(scratch)
	if err != nil {
		t.Skipf("%s %s cannot be had: %v", m.edit.path, m.edit.version, err)
	}
	to := filepath.Join(scratch, "edited")
	copyFolder(t, own.Dir, to)
	for _, l := range m.edit.lines {
		file := filepath.Join(to, l.file)
		before, after, found := strings.Cut(harness.ReadText(t, file), l.old)
		if !found || strings.Contains(after, l.old) {
			t.Fatalf("%s of %s %s does not contain %q once", l.file, m.edit.path, m.edit.version, l.old)
		}
		writeFile(t, file, before+l.new+after)
	}
}

func (m module) command(dir string, args ...string) *exec.Cmd {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED="+m.cgo, "GOWORK=off")
	return command
}

func (m module) download(dir string) (d downloaded, err error) {
	out, failed := m.command(dir, "mod", "download", "-json", m.path+"@"+m.version).Output()
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fmt.Errorf("go mod download: %w, %q", failed, out)
	}
	if d.Error != "" {
		return d, fmt.Errorf("go mod download: %s", d.Error)
	}
	return d, nil
}

// asOwn is the go.mod of the module itself, under another name: with what it pins.
func (m module) asOwn(own string) string {
	own = regexp.MustCompile(`(?m)^module .*`).ReplaceAllString(own, "module scratch")
	return own + fmt.Sprintf("\nrequire %s %s\n", m.path, m.version)
}

// last are the last lines of a text.
func last(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// copyFolder copies files of a folder so that others can read them, and that they can be
// removed again: in the cache of modules nothing can be written.
func copyFolder(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	must.Do(t, err)
}
