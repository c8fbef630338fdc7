package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// A program that forgot its secrets would print them.
func TestOnlyTestsForgetSecrets(t *testing.T) {
	defined := 0
	for _, name := range filesUnder(t, harness.Root, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must.Do(t, err)
		named, own := forgetters(file)
		if defined += own; named > own {
			t.Errorf("%s: ForgetSecrets is for tests alone", name)
		}
	}
	if defined != 1 {
		t.Errorf("ForgetSecrets is defined %d times", defined)
	}
}

// forgetters counts how often a file names the function that forgets secrets, and how often it defines it.
func forgetters(file *ast.File) (named, defined int) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == "ForgetSecrets" {
				named++
			}
		case *ast.FuncDecl:
			if n.Name.Name == "ForgetSecrets" {
				defined++
			}
		}
		return true
	})
	return named, defined
}
