package diff

import (
	_ "embed"
	"encoding/json"
	"io"
)

// Schema is the published JSON Schema of a plan.
//
//go:embed plan.schema.json
var Schema []byte

// JSON writes the plan in its versioned JSON form, ended by a newline.
func (p Plan) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p)
}
