package status

import (
	"os"
	"regexp"
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
	for _, name := range regexp.MustCompile(`seawall_[a-z_]+`).FindAllString(page, -1) {
		if err := served(name, ""); err != nil {
			t.Error(err)
		}
	}
	for _, outcome := range inspect.Outcomes() {
		if !strings.Contains(page, "| `"+string(outcome)+"` |") {
			t.Errorf("the table of outcomes lacks %s", outcome)
		}
	}
}
