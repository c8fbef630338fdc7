package compile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// loaded loads the package of one folder and builds its value. The loader works
// on fsys alone: its other mode, an overlay, lets a repository read modules
// from the host by a replacement in cue.mod/local-module.cue.
func loaded(ctx *cue.Context, fsys fs.FS, dir string) (cue.Value, explain.Files, []desired.Problem) {
	files := explain.Files{Own: dir}
	insts := load.Instances([]string{"."}, &load.Config{
		FS:         fsys,
		Dir:        "/" + dir,
		FromFSPath: relative,
		Registry:   noRegistry{},
		Env:        []string{"CUE_REGISTRY=none"},
		ParseFile:  parseFor(dir),
	})
	if len(insts) != 1 {
		return cue.Value{}, files, []desired.Problem{{Origin: desired.Origin{File: dir}, Message: fmt.Sprintf("the folder has %d packages; only one is allowed", len(insts))}}
	}
	if problems := refused(insts[0]); len(problems) > 0 {
		return cue.Value{}, files, problems
	}
	if err := insts[0].Err; err != nil {
		return cue.Value{}, files, loadProblems(err, fsys, dir)
	}
	files.Syntax = insts[0].Files
	return ctx.BuildInstance(insts[0]), files, nil
}

// relative maps a name in fsys to the name in positions. The root becomes "."
// because the loader takes an empty name for a missing module.
func relative(name string) string {
	if name == "/" {
		return "."
	}
	return strings.TrimPrefix(name, "/")
}

// refused finds what CUE would pass over or reach out for: files that belong
// to no package, and attributes that bring other files in.
func refused(inst *build.Instance) (problems []desired.Problem) {
	for _, f := range slices.Concat(inst.IgnoredFiles, inst.OrphanedFiles) {
		name := relative(filepath.ToSlash(f.Filename))
		if path.Dir(name) == path.Clean(relative(filepath.ToSlash(inst.Dir))) && inPackage(path.Base(name)) {
			problems = append(problems, unpackaged(name))
		}
	}
	for _, f := range inst.Files {
		for _, d := range f.Decls {
			if a, ok := d.(*ast.Attribute); ok && strings.HasPrefix(a.Text, "@extern") {
				problems = append(problems, desired.Problem{
					Origin:  originOf(a.Pos()),
					Message: "@extern is refused: the desired state must be in CUE files",
					Hint:    "write the data as CUE; cue import turns JSON and YAML files into it",
				})
			}
		}
	}
	for _, imported := range inst.Imports {
		problems = append(problems, refused(imported)...)
	}
	return problems
}

func unpackaged(file string) desired.Problem {
	return desired.Problem{
		Origin:  desired.Origin{File: file},
		Message: "the file has no package, so CUE ignores it",
		Hint:    "start it with the package clause of its folder, such as package edge, and do not use @if",
	}
}

func originOf(pos token.Pos) desired.Origin {
	p := pos.Position()
	return desired.Origin{File: p.Filename, Line: p.Line, Column: p.Column}
}

var errNoRegistry = errors.New("imports from a registry are refused")

// noRegistry refuses every module that is not the repository's own, without
// touching the network.
type noRegistry struct{}

func (noRegistry) ModFile(context.Context, module.Version) (*modfile.File, error) {
	return nil, errNoRegistry
}

func (noRegistry) Fetch(context.Context, module.Version) (module.SourceLoc, error) {
	return module.SourceLoc{}, errNoRegistry
}

func (noRegistry) ModuleVersions(context.Context, string) ([]string, error) {
	return nil, errNoRegistry
}

// loadProblems tells why a folder does not load. Errors without a position
// are about the module file or about the folder as a whole.
func loadProblems(err error, fsys fs.FS, dir string) []desired.Problem {
	problems := explain.Raw(err, dir)
	for i, p := range problems {
		switch {
		case !p.Origin.IsZero():
		case strings.Contains(p.Message, "module"):
			problems[i].Origin.File = moduleFile(fsys, dir)
		default:
			problems[i].Origin.File = dir
		}
		if strings.HasPrefix(p.Message, "found packages") {
			problems[i].Message, _, _ = strings.Cut(p.Message, ` in "`) // the folder is told already
			problems[i].Hint = "a folder has one package; use the same package clause in all its files"
		}
	}
	return problems
}

// moduleFile returns the module file that holds for a folder.
func moduleFile(fsys fs.FS, dir string) string {
	for {
		name := path.Join(dir, "cue.mod", "module.cue")
		if _, err := fs.Stat(fsys, name); err == nil || dir == "." {
			return name
		}
		dir = path.Dir(dir)
	}
}
