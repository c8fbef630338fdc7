package notify

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
)

// A read that is cut off because the daemon ends, or is reloaded, is not a failure to report.
func TestARecallThatIsCutOffIsNoFailure(t *testing.T) {
	var lines bytes.Buffer
	s := &share{config: Config{Log: slog.New(slog.NewTextHandler(&lines, nil))}}
	ctx, cancel := context.WithCancel(t.Context())
	read := func(ctx context.Context) error { cancel(); return ctx.Err() }
	if s.recall(ctx, read) || lines.Len() > 0 {
		t.Errorf("logged %s", lines.Bytes())
	}
}
