package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// settings are configuration, flags and environment, put together.
type settings struct {
	schema.Config
	dir string // desired state from a folder; empty means from git
}

// settings reads the configuration, if one is needed, and lays flags and
// environment over it.
func (t *terminal) settings(o options) (settings, error) {
	s := settings{dir: o.dir}
	if path := o.configFile(); path != "" {
		config, err := t.loadConfig(path)
		if err != nil {
			return settings{}, err
		}
		s.Config = config
	} else {
		s.Credentials.Rulesets = schema.SecretRef{Env: envRulesetsToken}
	}
	if o.baseURL != "" {
		s.Platform.BaseURL = o.baseURL
	}
	return s, s.checkCredentials(t)
}

// maxConfig bounds the configuration file, in bytes.
const maxConfig = 1 << 20

func (t *terminal) loadConfig(path string) (schema.Config, error) {
	data, err := readSmall(path, maxConfig)
	if errors.Is(err, os.ErrNotExist) && path == defaultConfig {
		return schema.Config{}, fail(fmt.Errorf("there is no configuration: %s does not exist", path),
			"name one with --config or SEAWALL_CONFIG",
			"or need none: --dir DIR --base-url URL, with the credential in "+envRulesetsToken)
	}
	if err != nil {
		return schema.Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	config, problems := schema.LoadConfig(path, data)
	if n := len(desired.Errors(problems)); n > 0 {
		return schema.Config{}, &badFile{fmt.Sprintf("%s: %s in the configuration", path, plural(n, "mistake", "mistakes")), problems}
	}
	t.problems(t.err, problems)
	return config, nil
}

// badFile is a file with problems, to be told line by line.
type badFile struct {
	summary  string
	problems []desired.Problem
}

func (m *badFile) Error() string { return m.summary }

// checkCredentials reads the credentials once, so that a missing one is told at
// the start, and warns when one value serves both purposes.
func (s settings) checkCredentials(t *terminal) error {
	rulesets, err := readToken(s.Credentials.Rulesets)
	if err != nil {
		return fail(fmt.Errorf("credentials.rulesets: %w", err))
	}
	if s.Credentials.Tokens == nil {
		return nil
	}
	tokens, err := readToken(*s.Credentials.Tokens)
	if err != nil {
		return fail(fmt.Errorf("credentials.tokens: %w", err))
	}
	if rulesets.Equal(tokens) {
		fmt.Fprintln(t.err, t.red("warning:"), "credentials.rulesets and credentials.tokens are the same;",
			"a token that may create tokens can grant itself anything and should hold no other permission")
	}
	return nil
}

// assembly is a reconciler with everything it stands on.
type assembly struct {
	*reconcile.Reconciler
	close func()
}

// purpose says what a reconciler is put together for.
type purpose int

const (
	toPlan  purpose = iota // nothing is written, on the platform or on disk
	toApply                // one run
	toServe                // the daemon
)

// assemble puts a reconciler together.
func assemble(ctx context.Context, s settings, why purpose, log *slog.Logger) (*assembly, error) {
	platform, err := client.New(client.Config{
		BaseURL:     s.Platform.BaseURL,
		Token:       func() (edge.Secret, error) { return readToken(s.Credentials.Rulesets) },
		Budget:      client.NewBudget(s.Budget.Requests, s.Budget.Per),
		Concurrency: s.Budget.Concurrency,
		UserAgent:   "seawall/" + thisVersion().Version,
		Log:         log,
	})
	if err != nil {
		return nil, fail(err, "see platform.base_url in the configuration, or --base-url")
	}
	r := &reconcile.Reconciler{
		Reader: edge.ReadOnly(platform), Requests: platform.Requests, Now: time.Now, Log: log,
		Concurrency: s.Budget.Concurrency,
	}
	if why != toPlan {
		r.Reader, r.Writer = platform, platform
	}
	a := &assembly{r, func() {}}
	if s.dir != "" {
		folder := newFolder(s.dir)
		r.Source, r.Compiler = folder, folder
		return a, nil
	}
	return a, a.onGit(s, why)
}

// onGit gives the reconciler its repository and its ledger.
func (a *assembly) onGit(s settings, why purpose) error {
	repository, err := newRepository(s.Config)
	if err != nil {
		return err
	}
	a.Source, a.Compiler, a.Good = repository, repository, repository
	path := filepath.Join(s.StateDir, "ledger.db")
	open := ledger.Open
	if why == toPlan {
		open = ledger.OpenReadOnly
	}
	memory, err := open(path)
	if err != nil {
		return explain(err)
	}
	memory.Now = time.Now
	a.Memory = memory
	a.close = func() { _ = memory.Close() }
	return nil
}
