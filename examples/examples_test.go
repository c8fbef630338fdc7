package examples

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/compile"
)

func TestExamplesAreValid(t *testing.T) {
	for dir, zones := range map[string]int{"single-zone": 1, "fleet": 3, "monorepo/infra/edge": 1} {
		t.Run(dir, func(t *testing.T) {
			tree, err := fs.Sub(Files, dir)
			if err != nil {
				t.Fatal(err)
			}
			state, problems := compile.Tree(tree, ".", "")
			for _, p := range problems {
				t.Errorf("%s (%s)", p, p.Hint)
			}
			if state.Zones() != zones {
				t.Errorf("%d zones, want %d", state.Zones(), zones)
			}
		})
	}
}

func TestStarterIsValid(t *testing.T) {
	tree := fstest.MapFS{}
	for _, f := range Starter("edge.example/desired") {
		tree[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	for name, content := range schema.Export() {
		tree["seawall/"+name] = &fstest.MapFile{Data: content}
	}
	state, problems := compile.Tree(tree, ".", "")
	for _, p := range problems {
		t.Errorf("%s (%s)", p, p.Hint)
	}
	if state.Zones() != 1 {
		t.Errorf("%d zones, want 1", state.Zones())
	}
}
