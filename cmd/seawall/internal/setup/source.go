package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// Folder is desired state in a folder that is not git. It implements
// reconcile.Source and reconcile.Compiler.
type Folder struct {
	Dir      string
	Progress func(done, total int) // nil shows none
}

// Fetch returns the empty commit: a folder has none.
func (f Folder) Fetch(context.Context) (string, error) { return "", nil }

// Compile evaluates the folder as it is now.
func (f Folder) Compile(ctx context.Context, _ string) (desired.State, []desired.Problem, error) {
	const hint = "name the folder that holds the CUE files"
	if info, err := os.Stat(f.Dir); errors.Is(err, fs.ErrNotExist) {
		return desired.State{}, nil, cli.Fail(fmt.Errorf("there is no folder %q", f.Dir), hint)
	} else if err != nil {
		return desired.State{}, nil, cli.Fail(err, hint)
	} else if !info.IsDir() {
		return desired.State{}, nil, cli.Fail(fmt.Errorf("%s is not a folder", f.Dir), hint+": "+cli.Quoted(filepath.Dir(f.Dir)))
	}
	return evaluate.Folder(ctx, f.Dir, f.Progress)
}

// OpenRepository opens the local store of the configured repository.
func OpenRepository(config schema.Config, log *slog.Logger) (*evaluate.Repository, error) {
	if err := CheckSandbox(config.Workers, sandbox.Here()); err != nil {
		return nil, err
	}
	if err := MakeStateDir(config.StateDir); err != nil {
		return nil, err
	}
	return evaluate.OpenRepository(config.StateDir, RemoteOf(config), log)
}

// RemoteOf translates what the configuration says of git.
func RemoteOf(config schema.Config) evaluate.Remote {
	s := config.Source
	return evaluate.Remote{
		Workers: evaluate.Workers{NoSandbox: config.Workers.Sandbox == sandboxOff, Memory: config.Workers.Memory},
		Source:  func() (gitrepo.Source, error) { return gitSource(s) },
		Policy:  policyOf(s), Path: s.Path, Timeout: s.Timeout,
	}
}

// maxAuthorities bounds the file of authorities, in bytes.
const maxAuthorities = 1 << 20

// gitSource reads the secrets a source needs, anew for each fetch.
func gitSource(s schema.Source) (gitrepo.Source, error) {
	source := gitrepo.Source{URL: s.URL, Ref: s.Ref, Shallow: s.Shallow, Idle: s.IdleTimeout, Timeout: s.Timeout, Limits: FetchLimits(s.Limits, "source.limits")}
	if policy := policyOf(s); policy != nil {
		source.Tags = policy.Tags()
	}
	var err error
	if s.CAFile != "" {
		pem, err := trusted.Read(s.CAFile, maxAuthorities)
		if err != nil {
			return gitrepo.Source{}, fmt.Errorf("source.ca_file: %w", err)
		}
		source.CA = string(pem)
	}
	switch {
	case s.Auth.Token != nil:
		source.Auth.Token, err = ReadSecret(*s.Auth.Token)
	case s.Auth.Bearer != nil:
		source.Auth.Bearer, err = ReadSecret(*s.Auth.Bearer)
	case s.Auth.Basic != nil:
		source.Auth.Basic = &gitrepo.Basic{Username: s.Auth.Basic.Username}
		source.Auth.Basic.Password, err = ReadSecret(s.Auth.Basic.Password)
	case s.Auth.SSH != nil:
		source.Auth.SSH, err = sshAuth(*s.Auth.SSH)
	}
	if err != nil {
		return gitrepo.Source{}, fmt.Errorf("source.auth: %w", err)
	}
	return source, nil
}

// FetchLimits translates the limits of a fetch, which a configuration has at setting.
func FetchLimits(l schema.FetchLimits, setting string) gitrepo.FetchLimits {
	return gitrepo.FetchLimits{
		Objects: l.Objects, ObjectBytes: l.Object, UnpackedBytes: l.Unpacked, PackBytes: l.Pack, StoreBytes: l.Store, Setting: setting,
	}
}

// policyOf says what a commit must show; nil for nothing.
func policyOf(s schema.Source) *gitrepo.Policy {
	if s.Verify == nil {
		return nil
	}
	return &gitrepo.Policy{
		Trust:   signature.Trust{OpenPGP: s.Verify.OpenPGP, SSH: s.Verify.SSH},
		Require: gitrepo.Require(s.Verify.Require), Ref: s.Ref,
	}
}

func sshAuth(s schema.SSH) (*gitrepo.SSH, error) {
	auth := &gitrepo.SSH{User: s.User, KnownHostsFile: s.KnownHosts}
	var err error
	if auth.Key, err = ReadSecret(s.Key); err != nil {
		return nil, err
	}
	if s.Passphrase != nil {
		auth.Passphrase, err = ReadSecret(*s.Passphrase)
	}
	return auth, err
}

// LoadState reads the desired state, from a folder or from the configured
// repository. Mistakes in it are reported, and end the command.
func LoadState(ctx context.Context, t *cli.Terminal, o Options) (desired.State, error) {
	state, problems, err := compileState(ctx, t, o)
	if err != nil {
		return desired.State{}, err
	}
	t.ShowProblems(t.Err, problems)
	if n := len(desired.Errors(problems)); n > 0 {
		return desired.State{}, cli.Fail(fmt.Errorf("the desired state has %s", cli.Plural(n, "mistake", "mistakes")),
			"seawall validate checks a folder without a network")
	}
	return state, nil
}

func compileState(ctx context.Context, t *cli.Terminal, o Options) (desired.State, []desired.Problem, error) {
	if o.Dir != "" {
		return Folder{Dir: o.Dir}.Compile(ctx, "")
	}
	s, err := loadConfig(t, o.ConfigFile(), true, "or name a folder of desired state with --dir")
	if err != nil {
		return desired.State{}, nil, err
	}
	repository, err := OpenRepository(s.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return desired.State{}, nil, err
	}
	defer repository.Close()
	commit, err := repository.Fetch(ctx)
	if err != nil {
		return desired.State{}, nil, err
	}
	return repository.Compile(ctx, commit)
}

// errNoCommit: there is no commit in force.
var errNoCommit = errors.New("no commit was accepted yet")

// NoZone is for [LastGood] where only the names of zones, or tokens, are asked for.
func NoZone(desired.Account, desired.Zone) bool { return false }

// LastGood is what the last accepted commit declares for the zones that are wanted. Of the
// others it has keys, names and ids, and nothing that they declare.
func LastGood(ctx context.Context, s Settings, wanted compile.Wanted) (desired.State, error) {
	repository, err := OpenRepository(s.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return desired.State{}, err
	}
	defer repository.Close()
	commit, err := s.accepted(ctx, repository)
	if err != nil {
		return desired.State{}, err
	}
	return compileGood(ctx, repository, commit, wanted)
}

// compileGood evaluates an accepted commit for the zones that are wanted.
func compileGood(ctx context.Context, repository *evaluate.Repository, commit string, wanted compile.Wanted) (desired.State, error) {
	state, problems, err := repository.CompileOnly(ctx, commit, wanted)
	if err == nil && len(desired.Errors(problems)) > 0 {
		err = fmt.Errorf("the last accepted commit no longer compiles: %s", desired.Errors(problems)[0])
	}
	return state, err
}

// accepted is the last accepted commit, which the local store has then. In PostgreSQL, the daemon of
// another machine may have accepted it.
func (s Settings) accepted(ctx context.Context, repository *evaluate.Repository) (commit string, err error) {
	if !s.InPostgres() {
		commit, ok, err := repository.Good(ctx)
		if err == nil && !ok {
			err = errNoCommit
		}
		return commit, err
	}
	err = s.ReadLedger(ctx, func(memory *ledger.Ledger) error {
		standing, err := memory.Standing(ctx)
		if commit = standing.Commit; err == nil && commit == "" {
			err = errNoCommit
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if good, ok, err := repository.Good(ctx); err == nil && ok && good == commit {
		return commit, nil
	}
	_, err = repository.Fetch(ctx)
	return commit, err
}
