package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

const module = "github.com/seawall-dev/seawall"

// goPackage is what the house rules look at: the non-test files of one folder.
type goPackage struct {
	path    string   // "./edge/mem"; other modules and the standard library have no "./"
	imports []string // likewise, sorted, once each
	clocks  []string // "file:line: time.Now" for every look at the wall clock

	goroutines []string // "file:line" where one begins
}

// readSource parses every package of the module. It reads the files itself
// rather than ask the go command: that takes milliseconds, and sees files of
// every platform.
func readSource(t *testing.T) map[string]*goPackage {
	t.Helper()
	source.once.Do(func() {
		source.packages = map[string]*goPackage{}
		for _, name := range filesUnder(t, harness.Root, ".go") {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			must.Do(t, addFile(source.packages, name))
		}
		source.read = true
	})
	if !source.read {
		t.Fatal("another test could not read it")
	}
	return source.packages
}

// source is what was read, for all tests; it is not changed.
var source struct {
	once     sync.Once
	packages map[string]*goPackage
	read     bool
}

// filesUnder are the files of a folder that are the project's own: those that the go command
// sees, and what is for the forge.
func filesUnder(t *testing.T, folder, extension string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != folder && hiddenFromGo(entry.Name()) && entry.Name() != ".github":
			return fs.SkipDir
		case !entry.IsDir() && filepath.Ext(name) == extension:
			files = append(files, name)
		}
		return nil
	})
	must.Do(t, err)
	return files
}

// hiddenFromGo reports whether the go command passes over a folder.
func hiddenFromGo(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func addFile(packages map[string]*goPackage, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(harness.Root, name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.ToSlash(relative), data, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	key := "./" + path.Dir(filepath.ToSlash(relative))
	p := packages[key]
	if p == nil {
		p = &goPackage{path: key}
		packages[key] = p
	}
	for _, spec := range file.Imports {
		p.imports = append(p.imports, localise(strings.Trim(spec.Path.Value, `"`+"`")))
	}
	slices.Sort(p.imports)
	p.imports = slices.Compact(p.imports)
	p.clocks = append(p.clocks, clocks(fset, file)...)
	p.goroutines = append(p.goroutines, goroutines(fset, file)...)
	return nil
}

// localise writes the module's own packages with a leading "./".
func localise(importPath string) string {
	if rest, ok := strings.CutPrefix(importPath, module+"/"); ok {
		return "./" + rest
	}
	return importPath
}

// clocks finds the looks at the wall clock in a file: time.Now, called or
// handed over, and the two functions that call it.
func clocks(fset *token.FileSet, file *ast.File) []string {
	name := "time"
	for _, spec := range file.Imports {
		if spec.Path.Value == `"time"` && spec.Name != nil {
			name = spec.Name.Name
		}
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			id, isName := sel.X.(*ast.Ident)
			if isName && id.Name == name && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
				found = append(found, fset.Position(sel.Pos()).String()+": time."+sel.Sel.Name)
			}
		}
		return true
	})
	return found
}

// goroutines finds where a file starts some: go statements, and calls of a method Go
// with a function, as groups have it.
func goroutines(fset *token.FileSet, file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, fset.Position(n.Pos()).String())
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(n.Args) == 1 {
				found = append(found, fset.Position(n.Pos()).String())
			}
		}
		return true
	})
	return found
}
