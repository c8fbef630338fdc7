package evaluate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// Small files that CUE can neither bound nor survive end within the bound, with
// an error that names it and the folder, and every other folder's mistakes are
// told in the same run. The real worker runs here: this binary, started anew.
// Which bound comes first is for some a matter of the machine.
func TestBombs(t *testing.T) {
	t.Parallel()
	evaluateBombs(t, map[compiletest.Ending][]string{
		compiletest.Overflow: {"stack bound of 256 MiB", "time bound of 5s", "memory bound of 1 GiB"},
		compiletest.Endless:  {"time bound of 5s", "stack bound of 256 MiB", "memory bound of 1 GiB"},
	})
}

// ordinary are folders with a mistake, evaluated before the bombs, in between,
// and after them.
var ordinary = []string{"a", "e-middle", "z"}

// evaluateBombs evaluates the hostile inputs of some endings, each in a folder of
// its own among ordinary mistakes, and holds what is told to one of the bounds
// that an ending may name, and the whole to its time.
func evaluateBombs(t *testing.T, bounds map[compiletest.Ending][]string) {
	t.Helper()
	dir := t.TempDir()
	want := map[string][]string{} // what the one line about a folder may say
	ended := map[compiletest.Ending]bool{}
	for _, input := range compiletest.Hostile() {
		if ended[input.Ending] && !soak.On { // one of each ending
			continue
		}
		ended[input.Ending] = true
		folder := strings.ReplaceAll(input.Name, " ", "-")
		for _, bound := range bounds[input.Ending] {
			want[folder] = append(want[folder], folder+": evaluating this folder exceeded the "+bound)
		}
		if want[folder] != nil {
			writeUnit(t, dir, folder, input.Text)
		}
	}
	bombs := len(want)
	for _, folder := range ordinary {
		writeUnit(t, dir, folder, "package ordinary\n\nuser: \"\"\n")
		want[folder] = []string{folder + `/edge.cue:3:7: user: "" must be 1 to 64 letters, digits, - or _`}
	}
	limits := evaluationBounds
	limits.PerStep = 5 * time.Second // enough for an ordinary folder on a slow machine
	begin := time.Now()
	state, problems, err := Evaluator{bounds: limits}.folder(t.Context(), tree{Dir: dir})
	must.Do(t, err)
	if state.User != nil || bombs == 0 || len(problems) != len(want) {
		t.Errorf("%d bombs, %d folders, %d problems, state %+v", bombs, len(want), len(problems), state)
	}
	for _, p := range problems {
		folder, _, _ := strings.Cut(p.Origin.File, "/")
		if !slices.Contains(want[folder], p.String()) {
			t.Errorf("told %s\nwant one of %q", p, want[folder])
		}
		if mistake := slices.Contains(ordinary, folder); p.Ended == mistake {
			t.Errorf("%s: ended %t", p, p.Ended)
		}
	}
	if took, most := time.Since(begin), time.Duration(bombs+1)*(limits.PerStep+time.Minute); took > most {
		t.Errorf("it took %s, want at most %s", took, most)
	}
}

func writeUnit(t *testing.T, dir, folder, text string) {
	t.Helper()
	must.Do(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, folder, "edge.cue"), []byte(text), 0o644))
}

// A head of a pull request that is one bomb beside the other is told to be wrong:
// an error would have it evaluated again with every round.
func TestBombsInAPullRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, input := range compiletest.Hostile() {
		if input.Ending != compiletest.Endless {
			continue
		}
		for _, folder := range []string{"a", "b", "c", "d"} {
			writeUnit(t, dir, folder, input.Text)
		}
		break
	}
	limits := reviewBounds
	limits.PerStep, limits.Total = time.Second/2, time.Second // no folder here is to be evaluated
	_, problems, err := compileHead(t.Context(), tree{Dir: dir}, Evaluator{bounds: limits})
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), "evaluating the whole tree exceeded the total time bound of 1s") {
		t.Errorf("problems %v, error %v", problems, err)
	}
}
