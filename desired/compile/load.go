package compile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// build loads the package of one folder and builds its value. The loader works
// on fsys alone: its other mode, an overlay, lets a repository read modules
// from the host by a replacement in cue.mod/local-module.cue.
func build(ctx *cue.Context, fsys fs.FS, dir string) (cue.Value, []desired.Problem) {
	insts := load.Instances([]string{"."}, &load.Config{
		FS:         fsys,
		Dir:        "/" + dir,
		FromFSPath: relative,
		Registry:   noRegistry{},
		Env:        []string{"CUE_REGISTRY=none"},
	})
	if len(insts) != 1 {
		return cue.Value{}, []desired.Problem{{Origin: desired.Origin{File: dir}, Message: fmt.Sprintf("the folder holds %d packages; want one", len(insts))}}
	}
	if err := insts[0].Err; err != nil {
		return cue.Value{}, loadProblems(err, dir)
	}
	v := ctx.BuildInstance(insts[0])
	if err := v.Err(); err != nil && v.IncompleteKind() == cue.BottomKind && !v.Exists() {
		return cue.Value{}, loadProblems(err, dir)
	}
	return v, nil
}

// relative maps a name in fsys to the name in positions. The root stays "."
// because the loader takes an empty name for a missing module.
func relative(name string) string {
	if name == "/" {
		return "."
	}
	return name[1:]
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

func loadProblems(err error, dir string) []desired.Problem {
	problems := explain.Raw(err, dir)
	for i := range problems {
		if problems[i].Origin.IsZero() {
			problems[i].Origin.File = dir
		}
	}
	return problems
}
