package setup

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// InForce is desired state to ask about: that of a folder, or of the commit that was
// accepted last, for the zones that are wanted ([LastGood]).
type InForce struct {
	State desired.State
	// Trace finds where values come from.
	Trace func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error)
	Close func()
}

// ReadInForce reads it. Nothing is fetched where a commit was accepted.
func ReadInForce(ctx context.Context, t *cli.Terminal, o Options, wanted compile.Wanted) (InForce, error) {
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
	state, err := LastGood(ctx, s, wanted)
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

// TraceCommit finds where values of a commit come from that the state folder has.
func TraceCommit(ctx context.Context, config schema.Config, commit string, places []desired.Origin) (evaluate.Origins, error) {
	if err := CheckSandbox(config.Workers, sandbox.Here()); err != nil {
		return evaluate.Origins{}, err
	}
	return evaluate.CommitProvenance(ctx, config.StateDir, RemoteOf(config), commit, places)
}
