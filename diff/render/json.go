package render

import (
	_ "embed"
	"encoding/json"
	"io"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// Schema is the published JSON Schema of a plan.
//
//go:embed plan.schema.json
var Schema []byte

// JSON writes the plan in its versioned JSON form, ended by a newline.
func JSON(w io.Writer, p diff.Plan) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(WithoutStandIns(p))
}

// WithoutStandIns is a plan in which zones without a known id have none, as JSON shows it.
func WithoutStandIns(p diff.Plan) diff.Plan {
	problems := p.Problems
	for i, problem := range problems {
		known := desired.KnownScope(problem.Scope)
		if problem.Scope == known {
			continue
		}
		if &problems[0] == &p.Problems[0] {
			problems = slices.Clone(problems)
		}
		problems[i].Scope = known
	}
	p.Problems = problems
	return p
}
