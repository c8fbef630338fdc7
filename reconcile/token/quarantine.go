package token

import (
	"context"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// quarantineUnfinished settles what an earlier process left behind. Once is
// enough: from then on this process holds the lock of the ledger's tokens, and
// finishes its own attempts. Where it could not record how one ended, w.quarantined
// is taken back (see [Worker.noted]), and with each lease: another process has had the
// tokens meanwhile.
func (w *Worker) quarantineUnfinished(ctx context.Context) error {
	if lease, _ := reconcile.LeaseIn(ctx); lease.Epoch != w.epoch {
		w.quarantined, w.epoch = false, lease.Epoch
	}
	if w.quarantined {
		return nil
	}
	live, err := quarantineUnfinished(ctx, w.Memory)
	// While another process has the lock, the tokens are unknown and without records.
	w.quarantined = err == nil && live.Elsewhere == "" && (live.Unknown == "" || len(live.Records) > 0)
	return err
}

// QuarantineUnfinished settles what a process left behind that died between
// sending and recording. No one else may be creating meanwhile; a memory that
// another process has open for that says so by being unknown, without records.
func QuarantineUnfinished(ctx context.Context, memory reconcile.TokenMemory) error {
	_, err := quarantineUnfinished(ctx, memory)
	return err
}

func quarantineUnfinished(ctx context.Context, memory reconcile.TokenMemory) (diff.TokensLive, error) {
	live, err := memory.Tokens(ctx)
	if err != nil || live.Elsewhere != "" {
		return live, err
	}
	for _, record := range live.Records {
		if record.State == diff.TokenIntended {
			if err := memory.Quarantine(ctx, record.Intent, "the process ended before the answer was on record"); err != nil {
				return live, err
			}
		}
	}
	return live, nil
}

// noted passes on whether it could be recorded how an attempt ended. Where not, it
// is still intended on record, and is quarantined before tokens are read
// again.
func (w *Worker) noted(err error) error {
	if err != nil {
		w.quarantined = false
	}
	return err
}
