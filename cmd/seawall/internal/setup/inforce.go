package setup

import (
	"context"
	"log/slog"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// InForce is desired state to ask about: that of a folder, or of the commit that was
// accepted last.
type InForce struct {
	State desired.State
	// Trace finds where values come from.
	Trace func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error)
	Close func()
}

// ReadInForce reads it. Nothing is fetched where a commit was accepted.
func ReadInForce(ctx context.Context, t *cli.Terminal, o Options) (InForce, error) {
	if o.Dir != "" {
		state, err := LoadState(ctx, t, o)
		return InForce{state, func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error) {
			return evaluate.FolderProvenance(ctx, o.Dir, places)
		}, func() {}}, err
	}
	config, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return InForce{}, err
	}
	giveBack, err := KeepOwner(t, config.StateDir)
	if err != nil {
		return InForce{}, err
	}
	repository, err := OpenRepository(config, slog.New(slog.DiscardHandler))
	if err != nil {
		giveBack()
		return InForce{}, err
	}
	in := InForce{Close: func() { repository.Close(); giveBack() }}
	commit, accepted, err := repository.Good(ctx)
	if err == nil && accepted {
		in.State, err = LastGood(ctx, Settings{Config: config})
	} else if err == nil {
		if in.State, err = LoadState(ctx, t, o); err == nil {
			commit = in.State.Commit
		}
	}
	if err != nil {
		in.Close()
		return InForce{}, Explain(err)
	}
	in.Trace = func(ctx context.Context, places []desired.Origin) (evaluate.Origins, error) {
		return TraceCommit(ctx, config, commit, places)
	}
	return in, nil
}

// TraceCommit finds where values of a commit come from that the state folder has.
func TraceCommit(ctx context.Context, config schema.Config, commit string, places []desired.Origin) (evaluate.Origins, error) {
	if err := CheckSandbox(config.Workers, sandbox.Here()); err != nil {
		return evaluate.Origins{}, err
	}
	return evaluate.CommitProvenance(ctx, config.StateDir, RemoteOf(config), commit, places)
}
