package repository

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

var (
	// goFile is a file that a text names: `diff/merge.go`, `merge.go`, `diff/guard*.go`.
	goFile = regexp.MustCompile("`([\\w/*.-]+\\.go)`")
	// goFunction is a link to a function: [`Worker.Read`](reconcile/zone/zone.go).
	goFunction = regexp.MustCompile("\\[`(?:(\\w+)\\.)?(\\w+)`\\]\\(([\\w/.-]+\\.go)\\)")
	// mapRow is a row of the map: a package by the end of its path, and others by their
	// paths from there: | [redact](edge/redact) `redacttest` | … |.
	mapRow   = regexp.MustCompile("(?m)^\\| \\[([\\w/]+)\\]\\(([\\w/]+)\\)((?: `[\\w./]+`)*) \\| .+ \\|$")
	mapOther = regexp.MustCompile("`([\\w./]+)`")
)

// TestArchitectureNamesFilesThatExist: a file is named by its path, or, further on in
// the same section, without the folder of one that was named before.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	for _, name := range missingFiles(harness.ReadText(t, filepath.Join(harness.Root, "ARCHITECTURE.md")), repositoryHas) {
		t.Errorf("ARCHITECTURE.md names %s, which is not there", name)
	}
	for _, file := range filesUnder(t, filepath.Join(harness.Root, "docs", "adr"), ".md") {
		for _, name := range missingFiles(harness.ReadText(t, file), repositoryHas) {
			t.Errorf("%s names %s, which is not there", file, name)
		}
	}
}

// TestMissingFilesAreFound keeps the search from finding nothing.
func TestMissingFilesAreFound(t *testing.T) {
	there := func(pattern string) bool { return pattern == "a/b.go" || pattern == "a/c.go" || pattern == "d/g*.go" }
	text := "## One\n`a/b.go`, `c.go`, `x.go`, `a/x.go`, `d/g*.go`\n## Two\n`c.go`"
	if got := fmt.Sprint(missingFiles(text, there)); got != "[x.go a/x.go c.go]" {
		t.Errorf("missing %s", got)
	}
}

// missingFiles returns the Go files that a text names and that do not exist. exists
// takes a slash-separated path from the root, with * as in path.Match.
func missingFiles(text string, exists func(pattern string) bool) (missing []string) {
	for section := range strings.SplitSeq(text, "\n## ") {
		var folders []string
		for _, match := range goFile.FindAllStringSubmatch(section, -1) {
			name, found := match[1], false
			if strings.Contains(name, "/") {
				found = exists(name)
				folders = append(folders, path.Dir(name))
			} else {
				for _, folder := range folders {
					found = found || exists(path.Join(folder, name))
				}
			}
			if !found {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

func repositoryHas(pattern string) bool {
	names, err := filepath.Glob(filepath.Join(harness.Root, filepath.FromSlash(pattern)))
	return err == nil && len(names) > 0
}

// TestArchitectureLinksFunctionsThatExist: a linked function is declared in the file
// that the link names, on the type that it names.
func TestArchitectureLinksFunctionsThatExist(t *testing.T) {
	links := goFunction.FindAllStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "ARCHITECTURE.md")), -1)
	if len(links) < 20 {
		t.Fatalf("found %d links to functions", len(links))
	}
	for _, link := range links {
		receiver, name, file := link[1], link[2], link[3]
		if !declares(t, filepath.Join(harness.Root, filepath.FromSlash(file)), receiver, name) {
			t.Errorf("%s has no function %s, or it has another receiver than %q", file, name, receiver)
		}
	}
}

// declares reports whether a file declares a function, or a method of a type.
func declares(t *testing.T, file, receiver, name string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return false
	}
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && function.Name.Name == name && receiverOf(function) == receiver {
			return true
		}
	}
	return false
}

// receiverOf returns the name of the type that a method belongs to, without type
// parameters; empty for a function.
func receiverOf(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	expression := function.Recv.List[0].Type
	for {
		switch e := expression.(type) {
		case *ast.StarExpr:
			expression = e.X
		case *ast.IndexExpr:
			expression = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// foldersOfTests are the packages below integration, also those that have tests alone.
func foldersOfTests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.Root, "integration", "*", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	folders := map[string]bool{}
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); name != "vendorsdk" { // a module of its own
			folders["./integration/"+name] = true
		}
	}
	return folders
}

// TestArchitectureIsShort: a map that is long is not read.
func TestArchitectureIsShort(t *testing.T) {
	if size := len(harness.ReadText(t, filepath.Join(harness.Root, "ARCHITECTURE.md"))); size > 15_000 {
		t.Errorf("ARCHITECTURE.md has %d bytes, want at most 15,000: decisions belong to docs/adr", size)
	}
}

// TestArchitectureMapHasEachPackage: each package is named once in the map, and each
// name in it is a package.
func TestArchitectureMapHasEachPackage(t *testing.T) {
	lines := map[string]int{}
	for _, row := range mapRow.FindAllStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "ARCHITECTURE.md")), -1) {
		if row[1] != row[2] && !strings.HasSuffix(row[2], "/"+row[1]) {
			t.Errorf("the line of %s links to %s", row[1], row[2])
		}
		lines["./"+row[2]]++
		for _, other := range mapOther.FindAllStringSubmatch(row[3], -1) {
			lines["./"+path.Join(row[2], other[1])]++
		}
	}
	packages := maps.Clone(readSource(t))
	for name := range foldersOfTests(t) {
		packages[name] = &goPackage{}
	}
	for name := range packages {
		if lines[name] != 1 {
			t.Errorf("the map of ARCHITECTURE.md names %[2]s %[1]d times", lines[name], name)
		}
		delete(lines, name)
	}
	for name := range lines {
		t.Errorf("the map of ARCHITECTURE.md names %s, which is no package", name)
	}
}

// TestDecisionRecords: numbered without gaps, short, of one form, and linked from the
// index.
func TestDecisionRecords(t *testing.T) {
	folder := filepath.Join(harness.Root, "docs", "adr")
	entries, err := os.ReadDir(folder)
	must.Do(t, err)
	index := harness.ReadText(t, filepath.Join(folder, "README.md"))
	number := 0
	for _, entry := range entries {
		if entry.Name() == "README.md" {
			continue
		}
		number++
		text := harness.ReadText(t, filepath.Join(folder, entry.Name()))
		title, _, _ := strings.Cut(strings.TrimPrefix(text, fmt.Sprintf("# %d. ", number)), "\n")
		switch {
		case !strings.HasPrefix(entry.Name(), fmt.Sprintf("%04d-", number)), strings.HasPrefix(title, "#"):
			t.Errorf("%s is not number %d, or its title does not begin with that", entry.Name(), number)
		case harness.CountLines(text) >= 40:
			t.Errorf("%s has %d lines, want fewer than 40", entry.Name(), harness.CountLines(text))
		case !strings.Contains(index, fmt.Sprintf("| [%04d](%s) | %s |\n", number, entry.Name(), title)):
			t.Errorf("the index has no line for %s with the title %q", entry.Name(), title)
		}
		for _, heading := range []string{"\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
			if strings.Count(text, heading) != 1 {
				t.Errorf("%s does not have the heading %q once", entry.Name(), strings.TrimSpace(heading))
			}
		}
	}
	if number < 10 {
		t.Errorf("found %d records", number)
	}
}
