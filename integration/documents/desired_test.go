package documents

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/examples"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestExamplesAreValid(t *testing.T) {
	for dir, zones := range map[string]int{"single-zone": 1, "fleet": 3, "monorepo/infra/edge": 1, "tokens": 0, "integrations": 0} {
		t.Run(dir, func(t *testing.T) {
			tree, err := fs.Sub(examples.Files, dir)
			must.Do(t, err)
			state, problems := compiletest.Tree(tree, ".", "")
			for _, p := range problems {
				t.Errorf("%s (%s)", p, p.Hint)
			}
			if state.Zones() != zones {
				t.Errorf("%d zones, want %d", state.Zones(), zones)
			}
		})
	}
}

// TestTokensUseTheSchema holds the example's copy of the schema to the schema, and
// its declarations to what it promises to show.
func TestTokensUseTheSchema(t *testing.T) {
	tree, err := fs.Sub(examples.Files, "tokens")
	must.Do(t, err)
	copies, err := fs.Glob(tree, "seawall/*")
	if err != nil || len(copies) != len(schema.Export()) {
		t.Fatalf("the copy has %v (%v)", copies, err)
	}
	for name, want := range schema.Export() {
		if have, err := fs.ReadFile(tree, "seawall/"+name); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not the schema's (%v): run seawall schema --export examples/tokens/seawall", name, err)
		}
	}
	state, _ := compiletest.Tree(tree, ".", "")
	forms, effects := map[string]bool{}, map[string]bool{}
	for _, token := range state.Tokens {
		for _, p := range token.Spec().Policies {
			effects[string(p.Effect)] = true
			for key, value := range p.Resources {
				forms[form(key, value)] = true
			}
		}
	}
	if len(state.Tokens) != 4 || len(forms) != 6 || len(effects) != 2 {
		t.Errorf("%d tokens with the forms %v and the effects %v", len(state.Tokens), forms, effects)
	}
}

// form is a resource without the id in it.
func form(key string, value edge.Breadth) string {
	i := strings.LastIndex(key, ".")
	if id := key[i+1:]; id != "*" {
		key = key[:i] + ".id"
	}
	if value.AllZones {
		key += " all zones"
	}
	return key
}

func TestStarterIsValid(t *testing.T) {
	tree := fstest.MapFS{}
	for _, f := range examples.Starter("edge.example/desired") {
		tree[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	for name, content := range schema.Export() {
		tree["seawall/"+name] = &fstest.MapFile{Data: content}
	}
	state, problems := compiletest.Tree(tree, ".", "")
	for _, p := range problems {
		t.Errorf("%s (%s)", p, p.Hint)
	}
	if state.Zones() != 1 {
		t.Errorf("%d zones, want 1", state.Zones())
	}
}
