package setup

import (
	"context"
	"fmt"
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

// AgreeSeal fails where the replicas have other keys for secrets than this one: none of them could open
// what the other has sealed. Keys are the same where they have one in common, so that they can be changed
// in turn; and where no other replica runs and no secret waits for the key before, this one's take their
// place. Where this process has no key, nothing is said. keep puts its keys on record.
func (s Settings) AgreeSeal(ctx context.Context, memory *ledger.Ledger, keep bool) error {
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
	decide := func(have string) (string, error) {
		if have == "" || slices.ContainsFunc(strings.Fields(have), func(p string) bool { return slices.Contains(prints, p) }) {
			return strings.Join(prints, " "), nil
		}
		others, err := s.otherReplicas(ctx, memory)
		if err == nil && len(others) == 0 {
			err = memory.CheckSeal(ctx)
		}
		if err == nil && len(others) > 0 {
			err = fmt.Errorf("this machine has another key for the secrets of tokens than %s", strings.Join(others, ", "))
		}
		if err != nil {
			return "", cli.Fail(err, "copy state.seal.key_file of those machines to this one; docs/rotate-credentials.md says how to change the key")
		}
		return strings.Join(prints, " "), nil
	}
	if keep {
		return s.DatabaseError(all.Agree(ctx, sealNote, decide))
	}
	have, err := all.Noted(ctx, sealNote)
	if err == nil {
		_, err = decide(have)
	}
	return s.DatabaseError(err)
}

// otherReplicas are those that run, without this one.
func (s Settings) otherReplicas(ctx context.Context, memory *ledger.Ledger) (names []string, err error) {
	look, err := lease.LookAt(ctx, memory.Database())
	for _, one := range look.Replicas {
		if one.Live && one.Name != ReplicaName(*s.Postgres) {
			names = append(names, one.Name)
		}
	}
	return names, err
}
