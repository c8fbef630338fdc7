package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
)

// The id of a zone that was found by its name stands beside its key; one that is
// declared does not.
func TestPlanShowsTheIDThatWasFound(t *testing.T) {
	p := difftest.PlanOf(difftest.ChangesTo(2, 0)...)
	p.Changes[0].ByName = true
	for name, write := range map[string]func(*bytes.Buffer, diff.Plan) error{
		"text":     func(b *bytes.Buffer, p diff.Plan) error { return Text(b, p, false) },
		"Markdown": func(b *bytes.Buffer, p diff.Plan) error { return Markdown(b, p) },
	} {
		var b bytes.Buffer
		if err := write(&b, p); err != nil {
			t.Fatal(err)
		}
		found, declared := p.Changes[0], p.Changes[1]
		want := "prod / " + found.Zone + " (" + string(found.ZoneID) + ") / core"
		if text := b.String(); !strings.Contains(text, want) || strings.Contains(text, string(declared.ZoneID)) {
			t.Errorf("%s lacks %q, or shows a declared id:\n%s", name, want, text)
		}
	}
}
