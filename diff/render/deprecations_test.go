package render

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

func TestPlanSaysWhatTakesThePlace(t *testing.T) {
	for want, n := range map[string]deprecation.Notice{
		"Brotli: None; compression rules":          {Title: "Brotli", Replacement: "None; compression rules", NoReplacement: true},
		"Minify: nothing; there is no replacement": {Title: "Minify", Replacement: "None", NoReplacement: true},
		"A message: not documented":                {Title: "A message"},
	} {
		n.Rule, n.State, n.Date = "r", deprecation.PastEnd, "2025-06-15"
		remarks := deprecated(diff.Plan{Deprecations: []deprecation.Notice{n}})
		if len(remarks) != 1 || !strings.Contains(remarks[0].hint, want) {
			t.Errorf("%+v, want %s", remarks, want)
		}
	}
}
