package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
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
	// failures counts requests that fail; nil counts none.
	failures *failureCount
}

// settings reads the configuration, if one is needed, and lays flags and
// environment over it.
func (t *terminal) settings(o options) (settings, error) {
	s, err := t.configured(o)
	if err != nil {
		return settings{}, err
	}
	if s.Platform.Extended() && s.Credentials.Tokens == nil {
		fmt.Fprintln(t.err, t.red("warning:"), `platform.profile is "extended" without credentials.tokens: Seawall does not read the platform's tokens`)
	}
	return s, s.checkCredentials(t)
}

// configured is that before the credentials are read.
func (t *terminal) configured(o options) (settings, error) {
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
	return s, nil
}

// maxConfig bounds the configuration file, in bytes.
const maxConfig = 1 << 20

func (t *terminal) loadConfig(path string) (schema.Config, error) {
	data, err := readSmall(path, maxConfig)
	if errors.Is(err, os.ErrNotExist) && path == defaultConfig {
		return schema.Config{}, fail(fmt.Errorf("there is no configuration: %s does not exist", path),
			"name one with --config or SEAWALL_CONFIG",
			"or use no configuration: --dir DIR --base-url URL, with the credential in "+envRulesetsToken)
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

// assembly is what plan, apply and the daemon stand on.
type assembly struct {
	git  source.Config        // without its schedule; of a folder, too
	good reconcile.GoodCommit // nil for a folder

	reader   edge.Reader
	writer   edge.Writer // nil for a plan
	requests func() int64
	quota    quota

	records     control.Records
	tokenMemory reconcile.TokenMemory // for reading, beside whoever creates; nil without a ledger
	tokens      token.Config

	guards       reconcile.Guards
	interval     time.Duration
	concurrency  int
	deprecations reconcile.Deprecations
	log          *slog.Logger

	evaluator evaluator // of commits
	close     func()
}

// look is the source of desired state, which looks on a schedule; nil only when asked.
func (a *assembly) look(schedule cron.Schedule) *source.Source {
	config := a.git
	config.Schedule, config.Now, config.Log = schedule, time.Now, a.log
	return source.New(config)
}

// tokenWorker does the work on tokens, nil where there is no ledger.
func (a *assembly) tokenWorker() *token.Worker {
	if a.tokens.Memory == nil {
		return nil
	}
	return token.New(a.tokens)
}

// tokenWork is the token work of a daemon; nil where there is none.
func (a *assembly) tokenWork(why purpose) controller.TokenWork {
	worker := a.tokenWorker()
	switch {
	case worker == nil:
		return nil
	case why == toObserve:
		return token.Observer{Worker: worker}
	}
	return worker
}

// once is one plan or apply.
func (a *assembly) once(show reconcile.Progress) *once.Run {
	return &once.Run{
		Source: a.look(nil), Good: a.good, Records: a.records, Guards: a.guards, Reader: a.reader, Writer: a.writer,
		Tokens: a.tokenWorker(), Concurrency: a.concurrency, Deprecations: a.deprecations, Budget: a.quota.Budget, Interval: a.interval,
		Requests: a.requests, Progress: show, Now: time.Now, Log: a.log,
	}
}

// purpose says what an assembly is for.
type purpose int

const (
	toPlan    purpose = iota // nothing is written but the shared count of requests
	toApply                  // one run
	toServe                  // the daemon
	toObserve                // the daemon with mode "observe": it writes to its state alone
)

// writes reports whether anything may be written to the platform or to a sink.
func (p purpose) writes() bool { return p == toApply || p == toServe }

// serves reports whether it is for the daemon.
func (p purpose) serves() bool { return p == toServe || p == toObserve }

// mayWrite fails where the configuration says that nothing is written.
func (s settings) mayWrite(o options) error {
	if s.serving() != toObserve {
		return nil
	}
	return fail(errors.New(`the configuration says mode: "observe": nothing is written`),
		`set mode: "apply" in `+o.configFile()+", or see the changes with seawall plan")
}

// serving is the purpose of a daemon with this configuration.
func (s settings) serving() purpose {
	if s.Guards.Observing {
		return toObserve
	}
	return toServe
}

// client says how to reach the platform with one credential; each has a budget
// of its own, which it shares with the other processes on this host.
func (s settings) client(credential schema.SecretRef, log *slog.Logger) client.Config {
	return client.Config{
		BaseURL:     s.Platform.BaseURL,
		Token:       recently(func() (edge.Secret, error) { return readToken(credential) }),
		Budget:      s.sharedBudget(credential, log),
		Concurrency: s.Budget.Concurrency,
		UserAgent:   "seawall/" + thisVersion().Version,
		Vendor:      s.Platform.Vendor, ConditionKey: s.Platform.ConditionKey, Observe: s.observe, Failed: s.failures.note,
		Log: log,
	}
}

// assemble puts it together.
func assemble(ctx context.Context, s settings, why purpose, log *slog.Logger) (*assembly, error) {
	budget, interval := s.budget(), s.interval(time.Now())
	s.quota, s.keepsState = s.Budget.Requests, why != toPlan && s.dir == ""
	if why.serves() && s.Forge != nil {
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
	a := &assembly{
		reader: edge.ReadOnly(platform), writer: edge.NoWriter{}, requests: platform.Requests, records: &reconcile.Forgetful{},
		quota: quota{budget, config.Budget}, interval: interval, concurrency: s.Budget.Concurrency, deprecations: sunset.notices, log: log,
		close: config.Budget.Close,
	}
	if why.writes() {
		a.reader, a.writer = platform, platform
	}
	if a.guards, err = guards(s.Guards); err != nil {
		return nil, err
	}
	if s.dir != "" {
		folder := newFolder(s.dir)
		a.git = source.Config{Source: folder, Compiler: folder}
		return a, nil
	}
	return a, a.onGit(s, why)
}

// onGit adds the repository, the ledger, and what creating tokens takes.
func (a *assembly) onGit(s settings, why purpose) error {
	repository, err := newRepository(s.Config, a.log)
	if err != nil {
		return err
	}
	a.good, a.git = repository, source.Config{
		Source: repository, Compiler: repository, Agreed: repository.approvals, Author: repository.author,
		Moved: repository.moved, FastForward: s.Source.FastForward == "require",
	}
	open := ledger.Open
	if why == toPlan {
		open = ledger.OpenReadOnly
	}
	memory, err := s.ledger(open)
	if err != nil {
		return err
	}
	if why == toServe {
		memory.User = "" // nobody gives the order: a commit does
	}
	a.records, a.tokenMemory = memory, memory
	a.evaluator = repository.evaluator
	giveBack := a.close
	a.close = func() { giveBack(); _, _ = memory.Close(), a.evaluator.cache.Close() }
	if err := a.withTokens(s, memory, why); err != nil || !why.serves() {
		return err // one run has nothing to be ahead of
	}
	closeSpares, closeRest := repository.keepSpares(), a.close
	a.close = func() { closeSpares(); closeRest() }
	return nil
}

// ledger opens the ledger of the configuration's state folder.
func (s settings) ledger(open func(string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	memory, err := open(filepath.Join(s.StateDir, "ledger.db"))
	if err != nil {
		return nil, explain(err)
	}
	memory.Now, memory.User, memory.Keep = time.Now, whoami(), s.historyBounds()
	memory.Binding = ledger.Binding{Platform: s.Platform.BaseURL, Repository: s.Source.URL}
	memory.Seal = ledger.Seal{KeyFile: s.Seal.KeyFile, Recipient: s.Seal.Recipient}
	return memory, nil
}
