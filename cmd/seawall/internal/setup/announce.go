package setup

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// LostEntries is what goes with the entries of a gap.
const LostEntries = "with them are lost: holds, approvals, what was proved, and which settings zones are under; where the ledger itself is a new one, tokens are unknown until seawall token init"

// AcceptGap is how a person acknowledges a gap.
const AcceptGap = "restore a backup, or find out who removed them and run: seawall history accept-gap --reason TEXT"

// announce warns of what a ledger has lost, at each start until a person has accepted it, and
// of files in its folder that others may read. A daemon also says that it begins anew. A process that
// writes to the platform, or serves, has it on record for all that the ledger was put back to an earlier time.
func announce(ctx context.Context, memory *ledger.Ledger, s Settings, why Purpose, log *slog.Logger) error {
	serving := why.serves()
	if open := Exposed(s.StateDir); serving && len(open) > 0 {
		log.Warn("other users may read the state", "files", strings.Join(open, ", "), "hint", CloseState(s.StateDir, open))
	}
	gaps, err := memory.Gaps(ctx)
	if err != nil {
		return err
	}
	if missing := memory.Missing(); missing != "" && s.InPostgres() {
		log.Warn("there is no ledger in the database, so nothing is known of earlier runs", "database", s.Postgres.Place(),
			"hint", "seawall run and seawall apply make it; if they have run, state.postgres names another database")
	}
	created, traces := memory.Created()
	switch {
	case !created || !serving:
	case len(traces) > 0:
		log.Warn("the ledger is missing; a new one begins", "lost", "holds, approvals, history, what was proved and which settings zones are under; tokens are unknown until seawall token init",
			"left", strings.Join(traces, ", "), "hint", "if that was not intended, stop the daemon and restore a backup")
	default:
		log.Info("there was no ledger; a new one begins")
	}
	for _, gap := range gaps {
		log.Warn("entries of the history are missing", "missing", gap.Missing, "entry", gap.Number, "lost", LostEntries, "hint", AcceptGap)
	}
	if !serving && !why.writes() {
		return nil
	}
	return memory.NotePutBack(ctx)
}

// GapText is a gap in a line.
func GapText(gap history.Gap) string {
	if gap.Number == 0 {
		return gap.Missing
	}
	return fmt.Sprintf("entry %d says: %s", gap.Number, gap.Missing)
}
