package store_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Who upgrades must know whether there is a way back, so the newest version that the changelog names
// is that of the program.
func TestTheChangelogNamesTheSchema(t *testing.T) {
	text, err := os.ReadFile("../../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`the ledger's schema is (\d+)`).FindSubmatch(text)
	if named == nil || string(named[1]) != strconv.Itoa(store.SchemaVersion) {
		t.Errorf("the changelog names schema %q, and not %d", named, store.SchemaVersion)
	}
}
