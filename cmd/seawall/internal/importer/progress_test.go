package importer

import (
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// What an import without rules has read of a zone is not all that one with them needs.
func TestAnImportWithRulesDoesNotGoOnFromOneWithout(t *testing.T) {
	o, z := Order{Dir: t.TempDir(), Origin: "here"}, target{}
	z.ID, z.Account = "z", "a"
	begun, err := openProgress(o, false)
	must.Do(t, err)
	must.Do(t, begun.add(record{Zone: "z", Account: "a"}))
	begun.close()
	for _, rules := range []bool{false, true} {
		on, err := openProgress(o, rules)
		must.Do(t, err)
		if _, known := on.of(z); known == rules {
			t.Errorf("with rules %t: known %t", rules, known)
		}
		on.close()
	}
}
