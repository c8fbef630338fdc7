package tokens

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// TestMarkReadTooEarly: a daemon goes on while a plan reads.
func TestMarkReadTooEarly(t *testing.T) {
	file, err := store.Open(filepath.Join(t.TempDir(), "ledger.db"))
	must.Do(t, err)
	l := In(file)
	t.Cleanup(func() { must.Do(t, l.UnlockTokens()); must.Do(t, file.Close()) })
	l.Binding = Binding{Platform: "https://edge.example", Repository: "https://git.example/fleet"}
	must.Do(t, l.LockTokens(t.Context()))
	must.Do(t, l.Init(t.Context(), l.Binding))
	m, err := l.readMark(t.Context())
	must.Do(t, err)
	for n := range 3 {
		must.Do(t, l.Intend(t.Context(), diff.TokenRecord{Intent: fmt.Sprintf("%016x", n+1), Key: fmt.Sprint("key-", n)}))
	}
	if live, err := l.tokensAfter(t.Context(), m); err != nil || live.Unknown != "" || len(live.Records) != 3 {
		t.Error(live, err)
	}
}
