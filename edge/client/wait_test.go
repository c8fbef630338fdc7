package client

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for the budget is told so, and not once a request.
func TestWaitingForTheBudgetIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := serve(t, answer(200, entryJSON)).client(t, func(config *Config) {
			config.Budget = NewBudget(2, 30*time.Second)
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		for i := range 9 { // 2 at once, then 2 after each 30 s
			if err := get(c); err != nil {
				t.Fatal(err)
			}
			if i == 1 && log.Len() > 0 {
				t.Errorf("told before anything waited: %s", &log)
			}
		}
		// Waits at 0, 30, 60 and 90 s; told at 0 and 60.
		if got := strings.Count(log.String(), "the request budget is used up"); got != 2 {
			t.Errorf("told %d times, want 2:\n%s", got, &log)
		}
	})
}
