package compile

import (
	"path"
	"path/filepath"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/seawall-dev/seawall/cue/schema"
)

// A repository of `seawall init` has a copy of the schema and imports it. What its
// files say is the schema's word and not a person's: they are parsed under the names
// of the schema's own files, so that every place that is shown is in a file that a
// person wrote, as without the copy.

// parseFor parses the files of one folder, and of all that it imports. A file of the folder
// itself keeps its name: there, a mistake in the copy is shown.
func parseFor(dir string) func(name string, src any, cfg parser.Config) (*ast.File, error) {
	return func(name string, src any, cfg parser.Config) (*ast.File, error) {
		file, err := parser.ParseFile(name, src, cfg)
		text, whole := src.([]byte)
		slashed := relative(filepath.ToSlash(name))
		if err != nil || !whole || path.Dir(slashed) == dir || !copied(file, path.Base(slashed)) {
			return file, err
		}
		return parser.ParseFile(schema.Root+path.Base(slashed), text, cfg)
	}
}

// copied reports whether a file is that of the schema, of this version or another:
// it has the name, the package and the first definition of one of its files.
func copied(file *ast.File, name string) bool {
	original, known := schemaFiles()[name]
	return known && file.PackageName() == original.PackageName() && firstDefinition(file) == firstDefinition(original)
}

// schemaFiles are the files that `seawall init` writes, by name.
var schemaFiles = sync.OnceValue(func() map[string]*ast.File {
	files := map[string]*ast.File{}
	for name, text := range schema.Export() {
		if file, err := parser.ParseFile(name, text); err == nil && firstDefinition(file) != "" {
			files[name] = file
		}
	}
	return files
})

// firstDefinition is the name of the first definition of a file; empty for none.
func firstDefinition(file *ast.File) string {
	for _, d := range file.Decls {
		if field, ok := d.(*ast.Field); ok {
			if name, _, err := ast.LabelName(field.Label); err == nil {
				return name
			}
		}
	}
	return ""
}
