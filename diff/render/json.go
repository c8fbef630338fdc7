package render

import (
	_ "embed"
	"encoding/json"
	"io"

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
	return encoder.Encode(p)
}
