package compiletest

import (
	"io/fs"
	"sync"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
)

// Tree compiles every folder of fsys at or below root, in this process.
func Tree(fsys fs.FS, root, commit string) (desired.State, []desired.Problem) {
	dirs, err := compile.Folders(fsys, root)
	if err != nil {
		return desired.State{}, []desired.Problem{compile.AsProblem(err)}
	}
	units := make([]compile.Unit, 0, len(dirs))
	compiler, built := compilers.Get().(*compile.Compiler)
	if !built || schema.Altered != nil {
		compiler = new(compile.Compiler)
	}
	for _, dir := range dirs {
		units = append(units, compiler.Folder(fsys, dir))
	}
	if schema.Altered == nil {
		compilers.Put(compiler)
	}
	return compile.Merge(units, commit)
}

// compilers have the schema built, which takes longer than to evaluate the tree of a test.
var compilers sync.Pool // of *compile.Compiler
