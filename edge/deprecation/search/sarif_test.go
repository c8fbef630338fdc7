package search_test

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/seawall-dev/seawall/integration/must"
)

// What a folder's report says in SARIF holds against the standard's schema, and
// each of its regions lies where the call stands.
func TestSARIFOfATree(t *testing.T) {
	tree, marks := fstest.MapFS{}, map[string]string{}
	for _, f := range forms {
		for _, u := range uses(t) {
			// One path that no other line of a form has.
			if u.Path == "zones/{zone_id}/script_monitor/scripts" && f.carries(u) {
				text := f.write(t, u)
				tree[u.Name+"/"+f.file] = &fstest.MapFile{Data: text}
				marks["tree/"+u.Name+"/"+f.file] = string(text)
			}
		}
	}
	s := newSearch(t, nil)
	in, err := s.Tree(tree, "tree")
	must.Do(t, err)
	r := s.Collector.Report(s.Matcher.Calendar())
	r.Inputs = append(r.Inputs, in)
	var out bytes.Buffer
	must.Do(t, r.SARIF(&out, "1.2.3"))
	log, err := sarif.FromBytes(out.Bytes())
	must.Do(t, err)
	for _, run := range log.Runs { // what the library writes by itself, empty, and the schema refuses
		run.Language, run.Tool.Driver.Language, run.NewlineSequences = "en-US", "en-US", []string{"\n"}
	}
	if err := log.Validate(); err != nil {
		t.Errorf("the standard's schema refuses it: %v", err)
	}
	var view struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	must.Do(t, json.Unmarshal(out.Bytes(), &view))
	seen := map[string]bool{}
	for _, result := range view.Runs[0].Results {
		at := result.Locations[0].PhysicalLocation
		lines := strings.Split(marks[at.ArtifactLocation.URI], "\n")
		line := at.Region.StartLine
		if line < 1 || line > len(lines) {
			t.Errorf("%s: line %d of %d", at.ArtifactLocation.URI, line, len(lines))
			continue
		}
		seen[at.ArtifactLocation.URI] = true
		// A call begins where its address stands, or at most so many lines before it:
		// a block, a command over several lines, an operation below its path.
		from, to := max(0, line-3), min(len(lines), line+4)
		if !strings.Contains(strings.Join(lines[from:to], "\n"), "script_monitor") {
			t.Errorf("%s: line %d is %q", path.Base(at.ArtifactLocation.URI), line, lines[line-1])
		}
	}
	if len(seen) != len(marks) {
		t.Errorf("%d of %d files have a result", len(seen), len(marks))
	}
}
