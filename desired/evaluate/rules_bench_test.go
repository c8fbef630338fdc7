package evaluate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// BenchmarkEvaluateRules evaluates a commit whose zones have 20 custom rules each, as
// [BenchmarkEvaluate] does.
func BenchmarkEvaluateRules(b *testing.B) {
	const zones = 1000
	f := benchFleet{zones: zones, state: b.TempDir()}
	origin := gittest.New(b)
	origin.Write("base.cue", "package edge\n\naccount: prod: {id: \"0123456789abcdef0123456789abcdef\"}\n")
	for folder := range zones / 100 {
		var text strings.Builder
		text.WriteString("package edge\n\naccount: prod: zone: {\n")
		for z := folder * 100; z < folder*100+100; z++ {
			fmt.Fprintf(&text, "\t\"zone-%05d.example\": {\n\t\tid: \"%032x\"\n\t\twaf: {}\n\t\trules: custom: {\n", z, z+1)
			for i := range 20 {
				fmt.Fprintf(&text, "\t\t\t\"rule-%02d\": {expression: #\"http.host eq \"shop-%d.example\" and starts_with(http.request.uri.path, \"/api/v%d/\")\"#, action: \"block\"}\n", i, z, i)
			}
			text.WriteString("\t\t}\n\t}\n")
		}
		origin.Write(fmt.Sprintf("team%04d/zones.cue", folder), text.String()+"}\n")
	}
	repo, err := gitrepo.Open(filepath.Join(f.state, "git"))
	must.Do(b, err)
	origin.Commit("cue.mod/module.cue", "module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n")
	fetched, err := repo.Fetch(b.Context(), gitrepo.Source{URL: "file://" + origin.Dir, Ref: "refs/heads/main"})
	must.Do(b, err)
	f.commits = [2]string{fetched.Commit, fetched.Commit}
	benchEvaluate(b, f)
}
