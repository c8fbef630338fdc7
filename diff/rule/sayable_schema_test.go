package rule

import (
	"os"
	"strings"
	"testing"
)

// What a declaration may say is what the schema permits: the lists are the same.
func TestSayableIsWhatTheSchemaPermits(t *testing.T) {
	schema, err := os.ReadFile("../../cue/schema/rules.cue")
	if err != nil {
		t.Fatal(err)
	}
	for field, list := range map[string][]string{"#SkippedPhase: ": skippedPhases, "#SkippedProduct: ": skippedProducts, "type!:    ": responseTypes} {
		want := field + `"` + strings.Join(list, `" | "`) + `" |`
		if !strings.Contains(string(schema), want) {
			t.Errorf("the schema has no %s", want)
		}
	}
}
