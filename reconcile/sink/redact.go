package sink

import (
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// output keeps the beginning of what a command says, and lets it say the rest.
type output struct{ text []byte }

const (
	keptOutput  = 16 << 10 // bytes that are looked through
	shownOutput = 500      // bytes that an error repeats
)

func (o *output) Write(p []byte) (int, error) {
	o.text = append(o.text, p[:min(len(p), keptOutput-len(o.text))]...)
	return len(p), nil
}

// redacted returns the beginning without secrets. It is cut after that, so that no half
// of a secret stands at the end.
func (o *output) redacted() string {
	text := strings.TrimSpace(edge.Redact(string(o.text)))
	if len(text) > shownOutput {
		text = strings.ToValidUTF8(text[:shownOutput], "") + " …"
	}
	return text
}

// redacted returns the beginning of what a server or a library said, on one line and
// without secrets.
func redacted(text string) string {
	var o output
	_, _ = o.Write([]byte(text)) // cannot fail
	return strings.Join(strings.Fields(o.redacted()), " ")
}
