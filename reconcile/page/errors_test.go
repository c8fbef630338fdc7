package page_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// failing is one whose history fails.
type failing struct {
	nothing
	err error
}

func (f failing) History(context.Context, page.HistoryQuery) (inspect.EntryList, error) {
	return inspect.EntryList{}, f.err
}

// What a client does wrong, or gives up, is no error of the daemon.
func TestErrorsOfClients(t *testing.T) {
	for err, want := range map[error]int{reconcile.ErrManyCommits: 400, context.Canceled: 503} {
		var log bytes.Buffer
		h := page.Handler(page.Config{Data: failing{err: fmt.Errorf("reading: %w", err)}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if w := ask(h, "/api/v1/history?commit=0000", nil); w.Code != want || log.Len() > 0 {
			t.Errorf("%v: %d, and the log says %s", err, w.Code, &log)
		}
	}
}
