package setup

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// InForce is desired state to ask about: that of a folder, or of the commit that was
// accepted last, for the zones that a word names ([lastGoodOf]).
type InForce struct {
	State desired.State
	// Trace finds where values come from.
	Trace func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error)
	Close func()
}

// ReadInForce reads it. Nothing is fetched where a commit was accepted.
func ReadInForce(ctx context.Context, t *cli.Terminal, o Options, word string) (InForce, error) {
	if o.Dir != "" {
		state, err := LoadState(ctx, t, o)
		return InForce{state, func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error) {
			return evaluate.FolderProvenance(ctx, o.Dir, places)
		}, func() {}}, err
	}
	s, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return InForce{}, err
	}
	giveBack, err := KeepOwner(t, s.StateDir)
	if err != nil {
		return InForce{}, err
	}
	state, err := lastGoodOf(ctx, s, word)
	if errors.Is(err, errNoCommit) {
		state, err = LoadState(ctx, t, o)
	}
	if err != nil {
		giveBack()
		return InForce{}, err
	}
	return InForce{state, func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error) {
		return TraceCommit(ctx, s.Config, state.Commit, places)
	}, giveBack}, nil
}

// IsMeant reports whether a word is the key or the id of a zone.
func IsMeant(z desired.Zone, word string) bool { return z.Key == word || z.Scope.String() == word }

// lastGoodOf is [LastGood] of the zones that a word names, as [IsMeant] has it. The ledger has what the
// commit declares, in parts that are in order: a zone is found in them by its key, and no folder is
// evaluated, nor any other zone read. Where they do not have it, all folders are asked, as for an id.
func lastGoodOf(ctx context.Context, s Settings, word string) (desired.State, error) {
	repository, err := OpenRepository(s.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return desired.State{}, err
	}
	defer repository.Close()
	commit, err := s.accepted(ctx, repository)
	if err != nil {
		return desired.State{}, err
	}
	if state, ok := s.onRecordOf(ctx, commit, word); ok {
		return state, nil
	}
	return compileGood(ctx, repository, commit, func(_ desired.Account, z desired.Zone) bool { return IsMeant(z, word) })
}

// onRecordOf is what a commit declares by the ledger, of its zones those with a key; false where that
// is neither a zone nor a token, may be an id, or is not to be told from what the ledger has.
func (s Settings) onRecordOf(ctx context.Context, commit, key string) (state desired.State, ok bool) {
	if _, err := hex.DecodeString(key); err == nil || strings.Contains(key, ":") {
		return desired.State{}, false
	}
	err := s.ReadLedger(ctx, func(memory *ledger.Ledger) error {
		return memory.StateParts(ctx, func(parts reconcile.StateParts) (err error) {
			if parts.Commit == commit {
				state, err = control.Find(parts, key)
			}
			return err
		})
	})
	isToken := slices.ContainsFunc(state.Tokens, func(t desired.Token) bool { return t.Key == key })
	return state, err == nil && state.Commit == commit && (state.Zones() > 0 || isToken)
}

// TraceCommit finds where values of a commit come from that the state folder has.
func TraceCommit(ctx context.Context, config schema.Config, commit string, places []desired.Origin) (evaluate.Origins, error) {
	if err := CheckSandbox(config.Workers, sandbox.Here()); err != nil {
		return evaluate.Origins{}, err
	}
	return evaluate.CommitProvenance(ctx, config.StateDir, RemoteOf(config), commit, places)
}
