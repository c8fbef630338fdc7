package compile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

// What CUE refuses by itself is refused quickly, and told in a line. Inputs
// that CUE does not survive are compiletest.Hostile's, for desired/worker.
func TestHostileInputsFail(t *testing.T) {
	head := "package hostile\n"
	for name, text := range map[string]string{
		"repeat":           head + "import \"strings\"\nuser: strings.Repeat(\"x\", 100_000_000_000)\n",
		"power":            head + "import \"math\"\nuser: \"\\(math.Pow(10, 100_000_000))\"\n",
		"structural cycle": head + "#List: {head: int, tail: #List}\naccount: #List\n",
		"recursion":        head + "_f: {n: int, out: (_f & {n: n + 1}).out}\nuser: (_f & {n: 0}).out\n",
		"brackets":         head + "account: " + strings.Repeat("[", 500_000) + "\n",
		"braces":           head + "account: " + strings.Repeat("{a:", 200_000) + "\n",
		"minus":            head + "user: " + strings.Repeat("-", 500_000) + "1\n",
		"nul":              head + "user: \"a\x00b\"\n",
		"not text":         "\xff\xfe\x00p\x00a",
		"long line":        head + "user: \"" + strings.Repeat("x", 900_000) + "\"\n",
		"self":             head + "account: account\nuser: user\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, problems := compiletest.Tree(tree(map[string]string{"a.cue": text}), ".", "")
			if len(desired.Errors(problems)) == 0 {
				t.Error("it is valid")
			}
			noNoise(t, report(problems))
			for _, p := range problems {
				if p.Origin.File == "" {
					t.Errorf("no place: %s", p)
				}
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// The hostile inputs reach the evaluator: no limit of the tree stops them.
func TestHostileInputsFitTheLimits(t *testing.T) {
	for _, input := range compiletest.Hostile() {
		if _, err := compile.Folders(tree(map[string]string{"a.cue": input.Text}), "."); err != nil {
			t.Errorf("%s: %v", input.Name, err)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add(oneZone)
	f.Add("package a\ntoken: a: policies: []\n")
	f.Add("package a\naccount: {{")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 400 {
			return // only small inputs: CUE has no bounds of its own
		}
		state, problems := compiletest.Tree(tree(map[string]string{"a.cue": text}), ".", "")
		if len(desired.Errors(problems)) > 0 && (state.Accounts != nil || state.Tokens != nil) {
			t.Errorf("a state beside errors: %+v, %v", state, problems)
		}
		for _, p := range problems {
			if p.Message == "" || strings.ContainsAny(p.String(), "\n\r") {
				t.Errorf("problem in more than one line: %q", p)
			}
		}
	})
}

func BenchmarkTree1000(b *testing.B) {
	fsys := compiletest.Fleet(1000, 10)
	b.ReportAllocs()
	for b.Loop() {
		state, problems := compiletest.Tree(fsys, ".", "c")
		if len(problems) > 0 || state.Zones() != 1000 {
			b.Fatalf("%d zones, %v", state.Zones(), problems)
		}
	}
}

// Explaining costs more than accepting, but not much more: here every zone has
// a mistake.
func BenchmarkTree1000Mistakes(b *testing.B) {
	fsys := compiletest.Fleet(1000, 10)
	for name, f := range fsys {
		if strings.HasPrefix(name, "team") {
			f.Data = []byte(strings.ReplaceAll(string(f.Data), `"block"`, `"blok"`))
		}
	}
	for b.Loop() {
		if _, problems := compiletest.Tree(fsys, ".", "c"); len(problems) != 51 {
			b.Fatalf("%d problems", len(problems))
		}
	}
}
