package ledger

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// A file keeps any bytes. PostgreSQL keeps no NUL and nothing that is no UTF-8, which the author of a
// commit and a server may send: nothing fails for it.
func TestForeignBytes(t *testing.T) {
	over := connected(t, begun(t), newKey(t)).Ledger
	mustLock(t, over)
	must(t, over.Init(t.Context(), binding))
	for name, l := range map[string]*Ledger{"file": ready(t), "PostgreSQL": over} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			for n, text := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
				must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: text, Author: text, Message: text}))
				write := writeOf("shop", "1")
				write.Asked.Commit, write.Subject.Zone, write.Reason = text, text, text
				write.Members = []reconcile.MemberChange{{Path: "x", Old: []byte(`"\u0000 \ud800 \ud83d\ude00 \\u0000"`), New: []byte("\"a\xffb\"")}}
				must(t, l.Record(ctx, write))
				must(t, l.Hold(ctx, diff.Hold{Zone: text, Reason: text, Until: time.Now()}, text))
				must(t, l.Post(ctx, "r", "", []byte(`{}`), []reconcile.Posted{{ID: text, Body: []byte("\"\xff\"")}}))
				must(t, l.Intend(ctx, record(n+1)))
				must(t, l.Quarantine(ctx, record(n+1).Intent, text))
			}
			report, err := l.VerifyHistory(ctx)
			if err != nil || len(report.Findings) > 0 || report.Rows < 12 {
				t.Errorf("%+v, %v", report, err)
			}
			entries, _, err := l.Page(ctx, reconcile.HistoryFilter{Zone: "a\x00b", Last: 10})
			if err != nil || len(entries) == 0 {
				t.Error(entries, err)
			}
		})
	}
}
