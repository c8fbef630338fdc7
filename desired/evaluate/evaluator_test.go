package evaluate

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/integration/must"
)

// evaluated is what an evaluator logs of where units came from.
type evaluated struct {
	Evaluated int
	Memory    int `json:"from_memory"`
	Disk      int `json:"from_disk"`
}

// commits is a repository whose commits are compiled the way the daemon does.
type commits struct {
	t      *testing.T
	origin *gittest.Repository
	state  string // the state folder
	source gitrepo.Source
	log    bytes.Buffer
}

func newCommits(t *testing.T) *commits {
	t.Helper()
	c := &commits{t: t, origin: gittest.New(t)}
	c.state = t.TempDir()
	c.source.URL, c.source.Ref = "file://"+c.origin.Dir, "refs/heads/main"
	return c
}

// start is the program started, or started anew.
func (c *commits) start() *Repository {
	c.t.Helper()
	log := slog.New(slog.NewJSONHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r, err := OpenRepository(c.state, Remote{Source: func() (gitrepo.Source, error) { return c.source, nil }, Timeout: c.source.Timeout}, log)
	must.Do(c.t, err)
	c.t.Cleanup(r.Close)
	return r
}

// commit commits files; one without text is removed.
func (c *commits) commit(r *Repository, files map[string]string) string {
	c.t.Helper()
	for name, text := range files {
		if text == "" {
			c.origin.Git("rm", "-q", name)
			continue
		}
		c.origin.Write(name, text)
	}
	c.origin.Commit()
	fetched, err := r.repo.Fetch(c.t.Context(), c.source)
	must.Do(c.t, err)
	return fetched.Commit
}

// evaluateHere evaluates folders within this process: no worker has to start.
func (t tree) evaluateHere(folders []string, room int64) ([]unitcache.Result, error) {
	files, _, err := t.open()
	if err != nil {
		return nil, err
	}
	all := gathered{room: room}
	for _, folder := range folders {
		out, err := json.Marshal(new(compile.Compiler).Folder(files, folder).Encode())
		if err == nil {
			err = all.add(out)
		}
		if err != nil {
			return nil, err
		}
	}
	return all.results, nil
}

// compile compiles a commit, holds it to what an evaluation that knows nothing
// makes of it, and returns where its units came from.
func (c *commits) compile(e Evaluator, commit string) evaluated {
	c.t.Helper()
	c.log.Reset()
	at := tree{Store: filepath.Join(c.state, "git"), Commit: commit}
	type answer struct {
		State    desired.State
		Problems []desired.Problem
	}
	var got, want answer
	var err error
	if got.State, got.Problems, err = e.compile(c.t.Context(), at); err != nil {
		c.t.Fatal(err)
	}
	list, err := at.list(c.t.Context())
	must.Do(c.t, err)
	if want.State, want.Problems, err = (Evaluator{bounds: evaluationBounds}).compileListed(at, list, at.evaluateHere); err != nil {
		c.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("commit %s (-evaluated +from the cache):\n%s", commit, diff)
	}
	var count evaluated
	if err := json.Unmarshal(c.log.Bytes(), &count); err != nil {
		c.t.Fatalf("%v: %s", err, c.log.String())
	}
	return count
}

func TestCommitTouchesOneFolder(t *testing.T) {
	t.Parallel()
	c := newCommits(t)
	r := c.start()
	files := map[string]string{}
	for name, file := range compiletest.Fleet(20, 9) { // enough for several workers
		files[name] = string(file.Data)
	}
	zones := files["team0003/zones.cue"]
	const all = 10
	for _, step := range []struct {
		name    string
		files   map[string]string
		restart bool
		want    evaluated
	}{
		{"first", files, false, evaluated{Evaluated: all}},
		{"nothing", nil, false, evaluated{Memory: all}},
		{"restart", nil, true, evaluated{Disk: all}},
		{"one folder", map[string]string{"team0003/zones.cue": strings.ReplaceAll(zones, "wordpress", "drupal")}, false, evaluated{Evaluated: 1, Memory: all - 1}},
		{"a mistake", map[string]string{"team0003/zones.cue": strings.ReplaceAll(zones, "paranoia", "paranoja")}, false, evaluated{Evaluated: 1, Memory: all - 1}},
		{"elsewhere", map[string]string{"team0004/more.cue": "package fleet\n"}, false, evaluated{Evaluated: 1, Memory: all - 1}},
		{"taken back, after a restart", map[string]string{"team0003/zones.cue": zones}, true, evaluated{Disk: all}},
		{"renamed", map[string]string{"team0003/zones.cue": "", "team0099/zones.cue": zones}, false, evaluated{Evaluated: 1, Memory: all - 1}},
		{"what all inherit", map[string]string{"base.cue": files["base.cue"] + "// a comment moves nothing\n"}, false, evaluated{Evaluated: all}},
	} {
		if step.restart {
			r = c.start()
		}
		if got := c.compile(r.Evaluator, c.commit(r, step.files)); got != step.want {
			t.Errorf("%s: %+v, want %+v", step.name, got, step.want)
		}
	}
}

// The head of a pull request is compiled beside the branch, whatever it holds.
func TestHeadsShareTheCache(t *testing.T) {
	t.Parallel()
	c := newCommits(t)
	r := c.start()
	const clean, hostile = "package a\n\nuser: \"u1\"\n", "package a\n\nuser: \"evil\"\n"
	first := c.commit(r, map[string]string{"a/a.cue": clean, "b/b.cue": "package b\n"})
	c.compile(r.Evaluator, first)
	pull := c.commit(r, map[string]string{"a/a.cue": hostile})
	if got, want := c.compile(r.Evaluator.besides(), pull), (evaluated{Evaluated: 1, Memory: 1}); got != want {
		t.Errorf("the head: %+v, want %+v", got, want)
	}
	if got, want := c.compile(r.Evaluator, first), (evaluated{Memory: 2}); got != want {
		t.Errorf("the branch afterwards: %+v, want %+v", got, want)
	}
	if got, want := c.compile(c.start().Evaluator, pull), (evaluated{Disk: 2}); got != want {
		t.Errorf("the head merged, after a restart: %+v, want %+v", got, want)
	}
}

// A folder whose evaluation was ended is evaluated again the next time.
func TestEndedIsNotKept(t *testing.T) {
	t.Parallel()
	c := newCommits(t)
	r := c.start()
	r.Evaluator.bounds.Stack = 8 << 20 // ends it early
	deep := "package b\n" + strings.Repeat("a:", 50_000) + "1\n"
	commit := c.commit(r, map[string]string{"a/a.cue": "package a\n", "b/b.cue": deep})
	for _, want := range []evaluated{{Evaluated: 2}, {Evaluated: 1, Memory: 1}} {
		c.log.Reset()
		if _, problems, err := r.Evaluator.compile(t.Context(), tree{Store: r.store, Commit: commit}); err != nil || len(problems) == 0 {
			t.Fatal(problems, err)
		}
		var got evaluated
		if err := json.Unmarshal(c.log.Bytes(), &got); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
}

// More than the bound of all folders together is refused, with nothing kept and
// with everything.
func TestTooMuchTogether(t *testing.T) {
	t.Parallel()
	c := newCommits(t)
	r := c.start()
	files := map[string]string{}
	for name, file := range compiletest.Fleet(40, 4) {
		files[name] = string(file.Data)
	}
	at := tree{Store: r.store, Commit: c.commit(r, files)}
	narrow := r.Evaluator
	narrow.bounds = worker.Limits{Output: 4 << 10}
	for _, kept := range []bool{false, true} {
		if kept {
			c.compile(r.Evaluator, at.Commit)
		}
		state, problems, err := narrow.compile(t.Context(), at)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "more than the bound of 0 MiB together") || state.Zones() != 0 {
			t.Errorf("all kept %v: %d zones, %v, %v", kept, state.Zones(), problems, err)
		}
	}
}

// Few folders on disk are evaluated by the worker that lists them, and many by others: what
// they come to is the same, and so are the bound of all together and what is shown meanwhile.
func TestFewFoldersOnDiskAndMany(t *testing.T) {
	t.Parallel()
	for _, folders := range []int{3, worthOneProcess + 2} {
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, compiletest.Fleet(40, folders)))
		list, err := tree{Dir: dir}.list(t.Context())
		must.Do(t, err)
		var shown, total int
		state, problems, err := Folder(t.Context(), dir, func(done, of int) { shown, total = done, of })
		if n := len(list.Folders); err != nil || len(problems) > 0 || state.Zones() != 40 || shown != n || total != n || n != folders+1 {
			t.Errorf("%d folders: %d zones, %v, %v; shown %d of %d", n, state.Zones(), problems, err, shown, total)
		}
		narrow := Evaluator{bounds: worker.Limits{Output: 4 << 10}}
		state, problems, err = narrow.folder(t.Context(), tree{Dir: dir})
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "more than the bound of 0 MiB together") || state.Zones() != 0 {
			t.Errorf("narrow: %d zones, %v, %v", state.Zones(), problems, err)
		}
	}
}

// A folder that is not git leaves nothing behind, and is read each time.
func TestFolderIsNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, user := range []string{"u1", "u2"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "a.cue"), []byte("package a\nuser: \""+user+"\"\n"), 0o600))
		state, problems, err := Folder(t.Context(), dir, nil)
		if err != nil || len(problems) > 0 || state.User.Value != user {
			t.Errorf("%+v, %v, %v", state.User, problems, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// A folder over which the process crashed says so, with what the process printed, and blames no
// comprehension; a bound that was exceeded says what it was.
func TestACrashIsToldWithWhatWasPrinted(t *testing.T) {
	var all gathered
	all.addTripped(&worker.BoundError{Bound: worker.BoundCrash, Limit: "exit status 2", Step: "a", Stderr: "panic: odd\n"})
	all.addTripped(&worker.BoundError{Bound: worker.BoundStack, Limit: "256 MiB", Step: "b", Stderr: "stack overflow\n"})
	crashed, large := all.results[0].Unit.Problems[0], all.results[1].Unit.Problems[0]
	if crashed.Printed != "panic: odd" || !strings.Contains(crashed.Hint, "report") {
		t.Errorf("%+v", crashed)
	}
	if large.Printed != "" || !strings.Contains(large.Hint, "comprehension") {
		t.Errorf("%+v", large)
	}
}
