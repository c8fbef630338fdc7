package compile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

func TestFileTooLarge(t *testing.T) {
	_, problems := compiletest.Tree(tree(map[string]string{
		"a/a.cue":   "package a\n",
		"a/big.cue": "package a\n//" + strings.Repeat("x", 1<<20),
	}), ".", "")
	want := "a/big.cue: the file has 1048588 bytes; the limit is 1 MiB\n    split it into several files, preferably in separate folders\n"
	if got := report(problems); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestTreeTooLarge(t *testing.T) {
	file := &fstest.MapFile{Data: []byte(strings.Repeat(" ", 1<<20))}
	fsys := fstest.MapFS{}
	for i := range 65 {
		fsys[fmt.Sprintf("d/%02d.cue", i)] = file
	}
	_, err := compile.Folders(fsys, ".")
	if err == nil || !strings.Contains(err.Error(), "d: the CUE files of the tree have more than 64 MiB") {
		t.Errorf("65 MiB: got %v", err)
	}
	delete(fsys, "d/64.cue")
	if _, err := compile.Folders(fsys, "."); err != nil {
		t.Errorf("64 MiB: got %v", err)
	}
}

func TestTooManyFiles(t *testing.T) {
	file := &fstest.MapFile{}
	fsys := fstest.MapFS{}
	for i := range 20_001 {
		fsys[fmt.Sprintf("%05d.cue", i)] = file
	}
	_, err := compile.Folders(fsys, ".")
	if err == nil || !strings.Contains(err.Error(), "more than 20000 CUE files") {
		t.Errorf("20,001 files: got %v", err)
	}
}

// wide declares n zones in one folder.
func wide(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package wide\naccount: a: {\n\tid: %q\n\tzone: {\n", id1)
	for i := range n {
		fmt.Fprintf(&b, "\t\tz%d: {id: \"%032x\", waf: {}}\n", i, i)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

func TestWideFolders(t *testing.T) {
	limits := compile.DefaultLimits
	t.Cleanup(func() { compile.DefaultLimits = limits })
	compile.DefaultLimits.WarnDeclarations, compile.DefaultLimits.MaxDeclarations = 3, 5
	const advice = "\n    split the folder; keep shared defaults in the parent folder\n"
	for n, want := range map[int]string{
		3: "",
		4: "warning: w: the folder declares 4 zones and tokens; evaluation is slow with more than 3" + advice,
		5: "warning: w: the folder declares 5 zones and tokens; evaluation is slow with more than 3" + advice,
		6: "w: the folder declares 6 zones and tokens; the limit is 5" + advice,
	} {
		state, problems := compiletest.Tree(tree(map[string]string{"w/w.cue": wide(n)}), ".", "")
		if got := report(problems); got != want {
			t.Errorf("%d zones: told\n%s\nwant\n%s", n, got, want)
		}
		if got, want := state.Zones(), map[bool]int{true: 0, false: n}[n > 5]; got != want {
			t.Errorf("%d zones: state has %d", n, got)
		}
	}
}

// A report has 50 errors and says how many more there are.
func TestReportIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("package a\n")
	for i := range 70 {
		fmt.Fprintf(&b, "account: a%d: id: \"x%d\"\n", i, i)
	}
	_, problems := compiletest.Tree(tree(map[string]string{"a.cue": b.String()}), ".", "")
	if len(problems) != 51 || problems[50].Message != "and 20 more errors" {
		t.Errorf("got %d problems, the last %v", len(problems), problems[len(problems)-1])
	}
}

func TestFoldersRefusesRoots(t *testing.T) {
	fsys := tree(map[string]string{"a/a.cue": "package a"})
	for root, want := range map[string]string{
		"../x": `path "../x" leaves the repository`,
		"/etc": `path "/etc" leaves the repository`,
		"b":    "b: there is no such folder",
	} {
		if _, err := compile.Folders(fsys, root); err == nil || err.Error() != want {
			t.Errorf("root %q: got %v, want %s", root, err, want)
		}
	}
}
