package status

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// TestOperationsNamesWhatThereIs: the metrics and outcomes of docs/operations.md are
// those of the code.
func TestOperationsNamesWhatThereIs(t *testing.T) {
	data, err := os.ReadFile("../../docs/operations.md")
	must.Do(t, err)
	page := string(data)
	named := regexp.MustCompile(`seawall_[a-z_]+`).FindAllString(page, -1)
	if len(named) < 5 {
		t.Fatalf("it names %v", named)
	}
	for _, name := range named {
		if !slices.ContainsFunc(catalogue(), func(m metric) bool { return m.name == name }) {
			t.Errorf("there is no metric %s", name)
		}
	}
	for _, outcome := range inspect.Outcomes() {
		if !strings.Contains(page, "| `"+string(outcome)+"` |") {
			t.Errorf("the table of outcomes lacks %s", outcome)
		}
	}
	for _, match := range regexp.MustCompile(`outcome=~"([a-z_|]+)"`).FindAllStringSubmatch(page, -1) {
		for name := range strings.SplitSeq(match[1], "|") {
			if o := inspect.Outcome(name); !slices.Contains(inspect.Outcomes(), o) || !o.NeedsPerson() {
				t.Errorf("%s needs no person", name)
			}
		}
	}
}
