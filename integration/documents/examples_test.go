package documents

import (
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/examples"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// example says what becomes of an example on the platform of `seawall sim`.
type example struct {
	path       string // of the desired state in the repository
	plan       int    // exit code of plan --detailed-exitcode
	apply      int    // exit code of apply
	afterwards int    // exit code of plan --detailed-exitcode after that
	writes     int
}

var wantExamples = map[string]example{
	"single-zone": {path: ".", plan: exitWeakens, writes: 1},
	// new.example does not run the managed ruleset: a person has to see to it.
	"fleet":    {path: ".", plan: exitAttention, apply: exitAttention, afterwards: exitAttention, writes: 2},
	"monorepo": {path: "infra/edge", plan: exitWeakens, writes: 1},
	// Nobody has said yet that the ledger knows all tokens; a folder has none.
	"tokens": {path: ".", plan: exitAttention, apply: exitAttention, afterwards: exitAttention},
	// It declares nothing that is on the platform.
	"integrations": {path: "."},
}

// The exit codes of plan and apply; see `seawall plan --help`.
const (
	exitWeakens   = 3
	exitAttention = 4
)

// TestExamples plans and applies every example the way its README tells: from a
// folder, and from a git repository, which is another way only for those with tokens and
// those in a folder of the repository.
func TestExamples(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(examples.Files, ".")
	must.Do(t, err)
	var there []string
	for _, entry := range entries {
		there = append(there, entry.Name())
	}
	if told := slices.Sorted(maps.Keys(wantExamples)); !slices.Equal(there, told) {
		t.Fatalf("there are the examples %v, and the test knows of %v", there, told)
	}
	for _, name := range there {
		want := wantExamples[name]
		t.Run(name+"/folder", func(t *testing.T) {
			t.Parallel()
			p := harness.StartPlatform(t, sim.Config{})
			dir, err := filepath.Abs(filepath.Join(harness.Root, "examples", name, filepath.FromSlash(want.path)))
			must.Do(t, err)
			tryExample(p, want, "--dir", dir, "--base-url", p.BaseURL)
		})
		if want.path == "." && name != "tokens" && !soak.On { // a folder shows the same
			continue
		}
		t.Run(name+"/git", func(t *testing.T) {
			t.Parallel()
			p := harness.StartPlatform(t, sim.Config{})
			s := harness.NewService(t, p, harness.ServiceConfig{})
			commitExample(t, s.Repo, name)
			s.Config.Source = `url: "file://` + s.Repo.Dir + `", path: "` + want.path + `"`
			s.Configure(s.Config.Text(s))
			tryExample(p, want, "--config", s.ConfigFile())
		})
	}
}

func tryExample(p *harness.Platform, want example, source ...string) {
	p.T.Helper()
	try := func(code int, command ...string) {
		p.T.Helper()
		harness.Run(p.T, p.Env(), append(command, source...)...).Want(p.T, code)
	}
	try(want.plan, "plan", "--detailed-exitcode")
	if w := p.Writes(); len(w) != 0 {
		p.T.Errorf("a plan writes: %v", w)
	}
	try(want.apply, "apply")
	if w := p.Writes(); len(w) != want.writes {
		p.T.Errorf("writes %v, want them in %d zones", w, want.writes)
	}
	p.ClearTranscript()
	try(want.apply, "apply")
	if w := p.Writes(); len(w) != 0 {
		p.T.Errorf("a second run writes: %v", w)
	}
	try(want.afterwards, "plan", "--detailed-exitcode")
}

func commitExample(t *testing.T, repo *gittest.Repository, name string) {
	t.Helper()
	err := fs.WalkDir(examples.Files, name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := examples.Files.ReadFile(file)
		if err == nil {
			repo.Write(path.Clean(file[len(name)+1:]), string(data))
		}
		return err
	})
	must.Do(t, err)
	repo.Commit()
}

// TestExampleOfIntegrations checks the example the way its README tells.
func TestExampleOfIntegrations(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(filepath.Join(harness.Root, "examples", "integrations"))
	must.Do(t, err)
	for _, c := range []struct {
		code int
		args []string
		say  string
	}{
		{4, []string{"--dir", dir, "--at", "2026-11-21"}, "billing-export (finance)"},
		{3, []string{"--dir", dir, "--at", "2026-11-21", "--suppress", filepath.Join(dir, "known.txt")}, "1 call suppressed"},
		{3, []string{filepath.Join(dir, "scripts"), "--at", "2026-11-21"}, "limits.sh:3"},
		{0, []string{"--dir", dir, "--at", "2021-01-01"}, "5 announced"},
	} {
		harness.Run(t, nil, append([]string{"deprecations", "check"}, c.args...)...).Want(t, c.code, c.say)
	}
}
