package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/atomicwriter"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/examples"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// present is what DIR declares before the import.
type present struct {
	state desired.State
	zones map[edge.ZoneID]bool
	named map[edge.AccountID][]string // folded names of the zones that are declared by them
	files bool                        // there are CUE files
	names *directory.Names            // of what is declared after the import
}

// inspect evaluates DIR; a folder without CUE files declares nothing. With --force it is
// imported as if there were none.
func inspect(ctx context.Context, o Order) (present, error) {
	p := present{}
	info, err := os.Stat(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return p, err
	case !info.IsDir():
		return p, cli.Fail(fmt.Errorf("%s is not a folder", o.Dir), "name the folder for the repository")
	}
	files, err := cueFiles(o.Dir)
	if err != nil || len(files) == 0 || o.Force {
		return p, err
	}
	p.files = true
	p.state, err = loadValid(ctx, o.Dir, o.Dir, "correct them before you import")
	return p, err
}

// loadValid evaluates a folder, and fails where it has mistakes. It is shown by another name.
func loadValid(ctx context.Context, dir, shown, hint string) (desired.State, error) {
	state, problems, err := setup.Folder{Dir: dir}.Compile(ctx, "")
	return state, cmp.Or(err, mistakes(problems, shown, hint))
}

// mistakes is the failure about problems; nil where none is an error.
func mistakes(problems []desired.Problem, shown, hint string) error {
	n := len(desired.Errors(problems))
	if n == 0 {
		return nil
	}
	return &cli.FileError{Summary: fmt.Sprintf("%s has %s; %s", shown, cli.Plural(n, "mistake", "mistakes"), hint), Problems: problems}
}

func (p present) account(id edge.AccountID) *desired.Account {
	for i, a := range p.state.Accounts {
		if a.ID == id {
			return &p.state.Accounts[i]
		}
	}
	return nil
}

// cueFiles lists the files of a repository that its evaluation reads, without what is
// only for editors.
func cueFiles(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != dir && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && strings.HasSuffix(base, ".cue") {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "cue.mod/") }), err
}

// write makes the files, has them evaluated beside those that are there, and puts them in
// their place.
func write(ctx context.Context, o Order, p present, accounts []imported, tokens tokenImport, left []leftOut) (*result, error) {
	if o.NoDeploy == "" {
		accounts = withDeploy(accounts)
	}
	r := &result{accounts: accounts, tokens: tokens, left: left}
	var problems []desired.Problem
	for _, as := range ways(o) {
		if r.accounts = accounts; !as.undecided {
			r.accounts = decided(accounts, o.Unmanaged)
		}
		files, summary, err := layout(o, p, r, as.simple)
		if err != nil {
			return nil, err
		}
		r.summary, r.files = summary, files
		wrong, err := stage(ctx, o, p, r)
		if err != nil {
			return nil, err
		}
		if len(wrong) == 0 {
			return r, r.place(o)
		}
		problems = wrong
	}
	return nil, &cli.FileError{Summary: "what was read cannot be declared beside what " + o.Dir + " declares; nothing was written", Problems: problems}
}

// way is how a repository is written: without tiers where they do not fit, and without a
// decision on what appears later where the repository has one.
type way struct{ simple, undecided bool }

func ways(o Order) []way {
	if o.Unmanaged == "" {
		return []way{{undecided: true}, {simple: true, undecided: true}}
	}
	return []way{{}, {undecided: true}, {simple: true}, {simple: true, undecided: true}}
}

// decided are accounts whose deployments decide on what appears later, where what is live
// has not made them decide otherwise.
func decided(accounts []imported, as desired.Unmanaged) []imported {
	return eachDeployment(accounts, func(d *desired.Deployment) {
		if d.Unmanaged == nil {
			d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: as}
		}
	})
}

// layout writes a new repository, or files beside those of an account that is declared.
func layout(o Order, p present, from *result, simple bool) (files []cuefile.File, sum cuefile.Summary, err error) {
	var all []*cuefile.Repository
	at := func(dir string) (*cuefile.Repository, error) {
		if i := slices.IndexFunc(all, func(r *cuefile.Repository) bool { return r.Dir == dir }); i >= 0 {
			return all[i], nil
		}
		r, err := p.repository(o, dir)
		all = append(all, &r)
		return &r, err
	}
	for _, a := range from.accounts {
		dir := ""
		if a.known != nil {
			dir = strings.TrimPrefix(path.Dir(a.known.Origin.File), ".")
		}
		r, err := at(dir)
		if err != nil {
			return nil, sum, err
		}
		r.Accounts = append(r.Accounts, a.Account)
	}
	if len(from.tokens.declared) > 0 || !p.files {
		r, err := at("")
		if err != nil {
			return nil, sum, err
		}
		r.Tokens, r.User = from.tokens.declared, from.tokens.user
	}
	for i, r := range all {
		if r.Simple = simple; i == 0 {
			r.Header = append(r.Header, from.header()...)
		}
		if o.NoDeploy == "" {
			r.About = []string{aboutDeploy}
		}
		more, s, err := cuefile.Write(*r)
		if err != nil {
			return nil, sum, err
		}
		files = append(files, more...)
		sum.Tiers, sum.Exceptions, sum.Own = sum.Tiers+s.Tiers, sum.Exceptions+s.Exceptions, sum.Own+s.Own
	}
	return files, sum, nil
}

// repository is a new one, or files that go into a folder of one with others.
func (p present) repository(o Order, dir string) (cuefile.Repository, error) {
	if p.files {
		return beside(o, dir)
	}
	return cuefile.Repository{
		Package: "edge", Base: "edge", Schema: o.Module + "/seawall", TierPrefix: "_tier",
		Header: []string{"Imported by seawall from " + o.Origin + "."},
	}, nil
}

// header are lines of a comment about accounts that could not be read.
func (r *result) header() (lines []string) {
	for _, l := range r.left {
		lines = append(lines, fmt.Sprintf("Not imported: account %s: %s.", l.account, l.why))
	}
	return lines
}

// beside is the repository of files that go into a folder with others.
func beside(o Order, dir string) (cuefile.Repository, error) {
	r := cuefile.Repository{Package: "edge", Dir: dir}
	here := filepath.Join(o.Dir, filepath.FromSlash(dir))
	entries, err := os.ReadDir(here)
	if err != nil {
		return r, err
	}
	for n := 1; r.Base == ""; n++ {
		base := "imported"
		if n > 1 {
			base = fmt.Sprintf("imported-%d", n)
		}
		free := !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return e.Name() == base+".cue" || strings.HasPrefix(e.Name(), base+"-") && (n > 1 || !isNumbered(e.Name()))
		})
		if free {
			r.Base, r.TierPrefix = base, "_"+strings.ReplaceAll(base, "-", "")
		}
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".cue") {
			text, err := os.ReadFile(filepath.Join(here, e.Name()))
			if err != nil {
				return r, err
			}
			if name := cuefile.PackageOf(text); name != "" {
				r.Package = name
				break
			}
		}
	}
	return r, nil
}

// isNumbered reports whether a file is of a later import: imported-2.cue.
func isNumbered(name string) bool {
	rest := strings.TrimPrefix(name, "imported-")
	return rest != "" && rest[0] >= '2' && rest[0] <= '9'
}

// stage evaluates the repository as it will be, in a folder inside DIR, and returns what
// is wrong with it: its mistakes, or zones that come out otherwise than they were read.
func stage(ctx context.Context, o Order, p present, r *result) ([]desired.Problem, error) {
	dir := filepath.Join(o.Dir, workDir, "stage")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if !p.files {
		r.fixed = starter(o)
	}
	state, problems, err := evaluateWith(ctx, o.Dir, dir, slices.Concat(r.fixed, r.files))
	if err != nil {
		return nil, err
	}
	if errs := desired.Errors(problems); len(errs) > 0 {
		return errs, nil
	}
	r.warnings = problems
	return differences(p, p.names.Resolve(state), r), nil
}

// starter are the files of a new repository that are not generated, but for those that
// are there.
func starter(o Order) (files []cuefile.File) {
	for _, f := range examples.Starter(o.Module) {
		if _, err := os.Stat(filepath.Join(o.Dir, filepath.FromSlash(f.Name))); err != nil && f.Name != "edge.cue" {
			files = append(files, cuefile.File{Name: f.Name, Content: f.Content})
		}
	}
	for name, content := range schema.Export() {
		files = append(files, cuefile.File{Name: "seawall/" + name, Content: content})
	}
	slices.SortFunc(files, func(a, b cuefile.File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// evaluateWith evaluates what is in a folder, with files laid over it, in another folder.
func evaluateWith(ctx context.Context, dir, stage string, files []cuefile.File) (state desired.State, problems []desired.Problem, err error) {
	names, err := cueFiles(dir)
	if err != nil {
		return state, nil, err
	}
	var all []cuefile.File
	for _, name := range append(names, moduleFile) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !(name == moduleFile && errors.Is(err, fs.ErrNotExist)) {
			return state, nil, err
		}
		if err == nil {
			all = append(all, cuefile.File{Name: name, Content: text})
		}
	}
	for _, f := range append(all, files...) {
		name := filepath.Join(stage, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return state, nil, err
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil {
			return state, nil, err
		}
	}
	return setup.Folder{Dir: stage}.Compile(ctx, "")
}

// moduleFile is read beside the files of a repository.
const moduleFile = "cue.mod/module.cue"

// differences compares what the files declare with what was read, and with what was
// declared before.
func differences(p present, state desired.State, r *result) (problems []desired.Problem) {
	now := zonesOf(state)
	differs := func(z desired.Zone, why string) {
		problems = append(problems, desired.Problem{
			Origin: now[z.Scope].Origin, Path: "zone " + z.Key, Message: why,
			Hint: "a pattern or a default of the repository has a say in it",
		})
	}
	for _, a := range r.accounts {
		for _, z := range a.Zones {
			if got, there := now[z.Scope]; !there || !bare(got, z.Zone).SameAs(z.Zone) {
				differs(z.Zone, "would be declared otherwise than it is live")
			}
		}
	}
	for id, z := range zonesOf(p.state) {
		if got, there := now[id]; !there || !got.SameAs(z) {
			differs(z, "is declared already, and would be declared otherwise")
		}
	}
	desired.SortProblems(problems)
	return problems
}

// bare is a zone without what the repository may add to it without a change of what is
// live: labels, that it is created where it is not there, and what becomes of overrides that
// are not declared, of which there are none.
func bare(got, want desired.Zone) desired.Zone {
	got.Labels, got.Deployments = want.Labels, slices.Clone(got.Deployments)
	for i := range got.Deployments[:min(len(got.Deployments), len(want.Deployments))] {
		got.Deployments[i].Deploy = want.Deployments[i].Deploy
		if want.Deployments[i].Unmanaged == nil {
			got.Deployments[i].Unmanaged = nil
		}
	}
	return got
}

func zonesOf(state desired.State) map[edge.Scope]desired.Zone {
	zones := map[edge.Scope]desired.Zone{}
	for _, z := range state.EachZone() {
		zones[z.Scope] = z
	}
	return zones
}

// place writes the files to DIR: all of them, or none where one is in the way.
func (r *result) place(o Order) error {
	for _, f := range r.files {
		name := filepath.Join(o.Dir, filepath.FromSlash(f.Name))
		if _, err := os.Lstat(name); err == nil && !o.Force {
			return cli.Fail(fmt.Errorf("%s exists; nothing was written", name), "move it away, import into another folder, or overwrite it with --force")
		}
	}
	for _, f := range slices.Concat(r.fixed, r.files) {
		if err := writeFile(o.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file below a folder; one that is there keeps its mode.
func writeFile(dir string, f cuefile.File) error {
	root, err := os.OpenRoot(dir) // a link in it leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	name, mode := filepath.FromSlash(f.Name), fs.FileMode(0o644)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", f.Name, err)
	}
	if _, err := root.Stat(filepath.Dir(name)); err != nil {
		return fmt.Errorf("writing %s: %w", f.Name, err)
	}
	name = filepath.Join(dir, name)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return atomicwriter.WriteFile(name, f.Content, mode)
}
