package setup

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// sealNote is the subject under which is on record by what the keys of the replicas are told apart.
const sealNote = "seal"

// sealWait is how long a start waits at most for what is on record of processes that have ended: a little
// longer than a lease.
const sealWait = lease.Lasts + 2*time.Second

// otherSealError: others may run with other keys.
type otherSealError struct{ others []lease.Replica }

func (e otherSealError) Error() string {
	names := make([]string, len(e.others))
	for i, one := range e.others {
		names[i] = one.Name
	}
	return "this machine has another key for the secrets of tokens than " + strings.Join(names, ", ")
}

// AgreeSeal puts on record which keys for secrets this process has, and fails where the replicas have other
// ones: none of them could open what the other has sealed. Keys are the same where they have one in common,
// so that they can be changed in turn; and where no other replica runs and no secret waits for the key
// before, this one's take their place. Where this process has no key, nothing is said. A process that was
// killed is on record for some seconds, and says nothing more: that is waited for.
func (s Settings) AgreeSeal(ctx context.Context, memory *ledger.Ledger, log *slog.Logger) error {
	err := s.agreeSeal(ctx, memory, true)
	var first, now otherSealError
	for end := time.Now().Add(sealWait); errors.As(err, &now) && !now.renewed(first) && time.Now().Before(end); {
		if first.others == nil {
			first = now
			log.WarnContext(ctx, "another key for secrets was in use a moment ago; the daemon waits whether a replica with it still runs", "error", now.Error())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
		err = s.agreeSeal(ctx, memory, true)
	}
	return err
}

// renewed reports whether one of these has said since an earlier look that it runs.
func (e otherSealError) renewed(earlier otherSealError) bool {
	return earlier.others != nil && slices.ContainsFunc(e.others, func(one lease.Replica) bool {
		return !slices.ContainsFunc(earlier.others, func(before lease.Replica) bool {
			return before.Name == one.Name && !one.ExpiresAt.After(before.ExpiresAt)
		})
	})
}

// CheckSeal fails where replicas that run have other keys, and puts nothing on record.
func (s Settings) CheckSeal(ctx context.Context, memory *ledger.Ledger) error {
	return s.agreeSeal(ctx, memory, false)
}

func (s Settings) agreeSeal(ctx context.Context, memory *ledger.Ledger, keep bool) error {
	if memory == nil || memory.Database() == nil {
		return nil
	}
	prints, err := memory.SealPrints(ctx)
	if err != nil || len(prints) == 0 {
		return err
	}
	all, err := jobs.New(jobs.Config{DB: memory.Database(), Now: time.Now})
	if err != nil {
		return err
	}
	decide := func(have string, age time.Duration) (string, error) {
		keys := strings.Fields(have)
		if len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(prints, key) }) {
			if err := s.mayReplaceSeal(ctx, memory, age); err != nil {
				return "", cli.Fail(err, "copy state.seal.key_file of those machines to this one; docs/rotate-credentials.md says how to change the key")
			}
		}
		return strings.Join(prints, " "), nil
	}
	if keep {
		return s.DatabaseError(all.Agree(ctx, sealNote, decide))
	}
	have, err := all.Noted(ctx, sealNote)
	if err == nil {
		_, err = decide(have, lease.Lasts)
	}
	return s.DatabaseError(err)
}

// mayReplaceSeal fails where other keys than this process has are in use, that were put on record so long ago.
func (s Settings) mayReplaceSeal(ctx context.Context, memory *ledger.Ledger, age time.Duration) error {
	others, err := s.otherReplicas(ctx, memory)
	if err != nil {
		return err
	}
	if len(others) == 0 && age < lease.Lasts { // who put it there may be about to be a replica
		others = []lease.Replica{{Name: "one that has just started"}}
	}
	if len(others) > 0 {
		return otherSealError{others}
	}
	return memory.CheckSeal(ctx)
}

// otherReplicas are those that run, as far as is known, without this one.
func (s Settings) otherReplicas(ctx context.Context, memory *ledger.Ledger) ([]lease.Replica, error) {
	look, err := lease.LookAt(ctx, memory.Database())
	return slices.DeleteFunc(look.Replicas, func(one lease.Replica) bool { return !one.Live || one.Name == ReplicaName(*s.Postgres) }), err
}
