package explain

import (
	"fmt"
	"path/filepath"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/integration/must"
)

// Every regular expression of the schema that a value may fail has words; those
// of resource keys are label patterns, whose failure is an unknown field.
func TestEveryBoundHasWords(t *testing.T) {
	files, err := filepath.Glob("../*.cue")
	if err != nil || len(files) == 0 {
		t.Fatalf("schema files: %v, %v", files, err)
	}
	used := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(name, nil)
		must.Do(t, err)
		ast.Walk(f, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				if _, pattern := field.Label.(*ast.ListLit); pattern && filepath.Base(name) == "resources.cue" {
					return false
				}
			}
			if u, ok := n.(*ast.UnaryExpr); ok && (u.Op == token.MAT || u.Op == token.NMAT) {
				text := fmt.Sprint(cuecontext.New().BuildExpr(u))
				used[text] = true
				if bounds[text] == "" {
					t.Errorf("%s: no words for %s", u.Pos(), text)
				}
			}
			return true
		}, nil)
	}
	for text := range bounds {
		if !used[text] {
			t.Errorf("words for %s, which the schema does not have", text)
		}
	}
}
