package compiletest

import (
	"io/fs"

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
	var compiler compile.Compiler
	for _, dir := range dirs {
		units = append(units, compiler.Folder(fsys, dir))
	}
	return compile.Merge(units, commit)
}
