package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile"
)

// cutOff are records of which no version can be read.
type cutOff struct {
	reconcile.Forgetful
	reconcile.RulesetPages
}

func (*cutOff) NewVersions(ctx context.Context, _ reconcile.VersionFilter) ([]reconcile.NewVersion, bool, error) {
	return nil, false, errors.Join(errors.New("reading the ledger"), ctx.Err())
}

// What fails because the daemon is to end, or to be reloaded, is no fault that someone must look at.
func TestWhatEndsWithTheDaemonIsNoFault(t *testing.T) {
	var lines bytes.Buffer
	d := notRunning(t)
	d.log, d.assembly = slog.New(slog.NewTextHandler(&lines, nil)), &setup.Assembly{Records: &cutOff{}}
	tells := func(ctx context.Context) int {
		lines.Reset()
		d.readWeakened(ctx)
		d.tellReload(ctx, errors.New("reading the ledger"))
		return bytes.Count(lines.Bytes(), []byte("\n"))
	}
	if n := tells(t.Context()); n != 2 {
		t.Errorf("%d lines while it runs: %s", n, lines.Bytes())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n := tells(ended); n != 0 {
		t.Errorf("%d lines at the end: %s", n, lines.Bytes())
	}
}
