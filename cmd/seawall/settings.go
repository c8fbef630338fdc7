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
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// settings are configuration, flags and environment, put together.
type settings struct {
	schema.Config
	dir string // desired state from a folder; empty means from git

	// quota is that of all lanes of the budget together; zero where there is one.
	quota int
	// keepsState says that the state folder will be there, if it is not yet.
	keepsState bool

	// observe is shown requests and answers; nil shows nobody.
	observe func(deprecation.Request, deprecation.Response)
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
	if s.Platform.Extended() && s.Credentials.Tokens == nil {
		fmt.Fprintln(t.err, t.red("warning:"), `platform.profile is "extended" without credentials.tokens: the tokens of the platform are not looked at`)
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
	memory  reconcile.TokenMemory // for reading, beside whoever creates; nil without a ledger
	records control.Records
	room    func(keep int) int
	close   func()

	evaluator evaluator // of commits
}

// purpose says what a reconciler is put together for.
type purpose int

const (
	toPlan  purpose = iota // nothing is written but the shared count of requests
	toApply                // one run
	toServe                // the daemon
)

// client says how to reach the platform with one credential; each has a budget
// of its own, which it shares with the other processes on this host.
func (s settings) client(credential schema.SecretRef, log *slog.Logger) client.Config {
	return client.Config{
		BaseURL:     s.Platform.BaseURL,
		Token:       func() (edge.Secret, error) { return readToken(credential) },
		Budget:      s.sharedBudget(credential, log),
		Concurrency: s.Budget.Concurrency,
		UserAgent:   "seawall/" + thisVersion().Version,
		Vendor:      s.Platform.Vendor, ConditionKey: s.Platform.ConditionKey, Observe: s.observe,
		Log: log,
	}
}

// assemble puts a reconciler together.
func assemble(ctx context.Context, s settings, why purpose, log *slog.Logger) (*assembly, error) {
	budget, interval := s.budget(), s.interval(time.Now())
	s.quota, s.keepsState = s.Budget.Requests, why != toPlan && s.dir == ""
	if why == toServe && s.Forge != nil {
		_, s.Budget = reviewBudget(s.Budget) // the rest is for reviews of pull requests
	}
	sunset, err := newSunset()
	if err != nil {
		return nil, err
	}
	s.observe = sunset.observe
	config := s.client(s.Credentials.Rulesets, log)
	platform, err := client.New(config)
	if err != nil {
		return nil, fail(err, "see platform.base_url in the configuration, or --base-url")
	}
	r := &reconcile.Reconciler{
		Deprecations: sunset.notices,
		Reader:       edge.ReadOnly(platform), Requests: platform.Requests, Now: time.Now, Log: log,
		Concurrency: s.Budget.Concurrency, Budget: budget, Interval: interval,
		Room: func() int { return config.Budget.Room(budget.Urgent()) },
	}
	if why != toPlan {
		r.Reader, r.Writer = platform, platform
	}
	if r.Guards, err = guards(s.Guards); err != nil {
		return nil, err
	}
	a := &assembly{Reconciler: r, records: &reconcile.Forgetful{}, room: config.Budget.Room, close: config.Budget.Close}
	if s.dir != "" {
		folder := newFolder(s.dir)
		r.Source, r.Compiler = folder, folder
		return a, nil
	}
	return a, a.onGit(s, why, log)
}

// onGit gives the reconciler its repository, its ledger, and what creating
// tokens takes.
func (a *assembly) onGit(s settings, why purpose, log *slog.Logger) error {
	repository, err := newRepository(s.Config, log)
	if err != nil {
		return err
	}
	a.Source, a.Compiler, a.Good, a.Agreed = repository, repository, repository, repository.agreed
	open := ledger.Open
	if why == toPlan {
		open = ledger.OpenReadOnly
	}
	memory, err := s.ledger(open)
	if err != nil {
		return err
	}
	a.Memory, a.Control, a.memory, a.records = memory, memory, memory, memory
	a.evaluator = repository.evaluator
	giveBack := a.close
	a.close = func() { giveBack(); _, _ = memory.Close(), a.evaluator.cache.Close() }
	return a.withTokens(s, memory, why, log)
}

// ledger opens the ledger of the configuration's state folder.
func (s settings) ledger(open func(string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	memory, err := open(filepath.Join(s.StateDir, "ledger.db"))
	if err != nil {
		return nil, explain(err)
	}
	memory.Now = time.Now
	memory.Binding = ledger.Binding{Platform: s.Platform.BaseURL, Repository: s.Source.URL}
	memory.Seal = ledger.Seal{KeyFile: s.Seal.KeyFile, Recipient: s.Seal.Recipient}
	return memory, nil
}
