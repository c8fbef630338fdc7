// Package setup makes what commands need of configuration, flags and environment: clients,
// ledger, repository, sinks, guards and the budget. [ReadSettings] reads and checks;
// [Assemble] connects the parts for a [Purpose], and gives a plan nothing that can write.
package setup

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Settings are configuration, flags and environment, put together.
type Settings struct {
	schema.Config
	Dir string // desired state from a folder; empty means from git

	// totalRequests is the budget that all who share it have; zero is that of Config.
	totalRequests int
	// why is what the clients are for: their requests are of its class.
	why Purpose
	// ends says that the process ends after one run.
	ends bool
	// keepsState says that the state folder will be there, if it is not yet.
	keepsState bool

	// database is that of state.postgres.
	database database

	// observe is shown requests and answers; nil shows no one.
	observe func(deprecation.Request, deprecation.Response)
	// failed is called with each request that fails; nil calls nothing.
	Failed func(error)
}

// ReadSettings reads the configuration, if one is needed, and lays flags and
// environment over it.
func ReadSettings(t *cli.Terminal, o Options) (Settings, error) {
	s, err := ReadConfigured(t, o)
	if err != nil {
		return Settings{}, err
	}
	return s, s.checkCredentials(t)
}

// ReadConfigured is that before the credentials are read.
func ReadConfigured(t *cli.Terminal, o Options) (Settings, error) {
	if err := o.CheckProfile(); err != nil {
		return Settings{}, err
	}
	var s Settings
	if path := o.ConfigFile(); path != "" {
		var err error
		if s, err = loadConfig(t, path, o.Dir == "", o.noConfig()...); err != nil {
			return s, err
		}
	} else {
		s.Credentials.Rulesets = schema.SecretRef{Env: EnvRulesetsToken}
		s.Guards.Rules = []schema.Guard{schema.DefaultGuard()}
		s.Platform, _ = schema.PresetOf(o.BaseURL)
	}
	s.Dir = o.Dir
	if o.BaseURL != "" {
		s.setBaseURL(o.BaseURL)
	}
	if o.Profile != "" {
		s.Platform.Profile = o.Profile
	}
	return s, nil
}

// setBaseURL replaces the address of the top level, also for the accounts that have no
// other.
func (s *Settings) setBaseURL(address string) {
	accounts := schema.Accounts{}
	for key, a := range s.Credentials.Accounts {
		if a.BaseURL == s.Platform.BaseURL {
			a.BaseURL = address
		}
		accounts[key] = a
	}
	s.Platform.BaseURL = address
	if len(accounts) > 0 {
		s.Credentials.Accounts = accounts
	}
}

// maxConfig bounds the configuration file, in bytes.
const maxConfig = 1 << 20

// LoadConfig reads the settings of a configuration file. Warnings go to standard error;
// mistakes are a [cli.FileError].
func LoadConfig(t *cli.Terminal, path string) (Settings, error) { return loadConfig(t, path, false) }

// LoadSource is [LoadConfig] where the configuration must name a repository.
func LoadSource(t *cli.Terminal, path string) (Settings, error) { return loadConfig(t, path, true) }

// noConfig is the hint of the commands that do without a configuration.
func (o Options) noConfig() []string {
	const credential = "URL, with the credential in " + EnvRulesetsToken
	switch {
	case o.FromGit:
		return nil
	case o.Dir != "":
		return []string{"or use no configuration: add --base-url " + credential}
	}
	return []string{"or use no configuration: --dir DIR --base-url " + credential}
}

// loadConfig is that for a command that needs the repository, or does not. The hints are what
// else to do where there is no configuration.
func loadConfig(t *cli.Terminal, path string, repository bool, hints ...string) (Settings, error) {
	data, err := trusted.ReadSmall(path, maxConfig)
	if errors.Is(err, os.ErrNotExist) && path == DefaultConfig {
		return Settings{}, cli.Fail(fmt.Errorf("there is no configuration: %s does not exist", path),
			append([]string{"name one with --config or SEAWALL_CONFIG; seawall init --config FILE writes one"}, hints...)...)
	}
	if err != nil {
		err = fmt.Errorf("reading the configuration: %w", err)
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			return Settings{}, cli.Fail(err, "the configuration is one file: name it with --config or SEAWALL_CONFIG")
		}
		return Settings{}, err
	}
	config, problems := schema.LoadConfig(path, data)
	if repository && config.Source.URL == "" && len(desired.Errors(problems)) == 0 {
		problems = append(problems, desired.Problem{
			Origin: desired.Origin{File: path, Line: 1, Column: 1}, Path: "source", Message: "required field is missing",
			Hint: "declare the repository, or read a folder with --dir DIR",
		})
	}
	if n := len(desired.Errors(problems)); n > 0 {
		return Settings{}, &cli.FileError{Summary: fmt.Sprintf("%s: %s in the configuration", path, cli.Plural(n, "mistake", "mistakes")), Problems: problems}
	}
	t.ShowProblems(t.Err, problems)
	return Settings{Config: config, database: newDatabase(config.Postgres)}, nil
}

// checkCredentials reads the credentials once, so that a missing one is reported at
// the start, and warns when one value serves both purposes. Of several credentials for
// rulesets one that works is enough to start: each stops its own accounts alone. So does one
// for tokens with the tokens of its owners.
func (s Settings) checkCredentials(t *cli.Terminal) error {
	warn := func(format string, args ...any) { fmt.Fprintln(t.Err, t.Red("warning:"), fmt.Sprintf(format, args...)) }
	var missing []error
	rulesets, lanes := map[string]edge.Secret{}, s.Lanes() // by path
	for _, lane := range lanes {
		secret, err := ReadToken(lane.Ref)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", lane.Path, err))
			continue
		}
		rulesets[lane.Path] = secret
	}
	if n := len(missing); n > 0 && n == len(lanes) {
		return missing[n-1]
	}
	for _, err := range missing {
		warn("%s; nothing is read or written with it", err)
	}
	for _, c := range s.TokenCredentials() {
		tokens, err := ReadToken(c.Ref)
		if err != nil {
			warn("%s: %s; tokens are neither read nor written", c.Path, err)
			continue
		}
		for _, lane := range lanes {
			if secret, read := rulesets[lane.Path]; read && secret.Equal(tokens) {
				warn("%s and %s are the same; a token that may create tokens can grant itself anything and should hold no other permission", lane.Path, c.Path)
			}
		}
	}
	return nil
}

// Purpose says what an assembly is for.
type Purpose int

// The purposes of an assembly.
const (
	ToPlan    Purpose = iota // nothing is written but the shared count of requests
	ToApply                  // one run
	ToServe                  // the daemon
	toObserve                // the daemon with mode "observe": it writes to its state alone
	ToRevert                 // one run that puts back
)

// class is that of requests that do not say theirs, in the budget that processes share.
func (p Purpose) class() edge.Class {
	switch p {
	case ToRevert:
		return edge.Urgent
	case ToApply, ToServe, toObserve:
		return edge.Bulk
	case ToPlan:
	}
	return edge.Question // the smallest share
}

// writes reports whether anything may be written to the platform or to a sink.
func (p Purpose) writes() bool { return p == ToApply || p == ToServe || p == ToRevert }

// serves reports whether it is for the daemon.
func (p Purpose) serves() bool { return p == ToServe || p == toObserve }

// MayWrite fails where the configuration says that nothing is written.
func (s Settings) MayWrite(o Options) error {
	if !s.Observing() {
		return nil
	}
	return cli.Fail(errors.New(`the configuration says mode: "observe": nothing is written`),
		`set mode: "apply" in `+o.ConfigFile()+", or see the changes with seawall plan")
}

// Serving is the purpose of a daemon with this configuration.
func (s Settings) Serving() Purpose {
	if s.Observing() {
		return toObserve
	}
	return ToServe
}

// Observing reports whether nothing is written with any credential.
func (s Settings) Observing() bool {
	return !slices.ContainsFunc(s.Lanes(), func(lane Credential) bool { return !lane.Observing })
}

// knownOfCommand is how many answers the client of a command remembers: more than there are
// writes at a time. What each zone was before it was written must not stay in memory.
const knownOfCommand = 1000

// clientConfig says how to reach the platform with one credential; each has a budget
// of its own, which it shares with the other processes on this host.
func (s Settings) clientConfig(credential schema.SecretRef, log *slog.Logger) client.Config {
	known := 0
	if s.ends { // each zone is asked once, and after a write once more
		known = knownOfCommand
	}
	return client.Config{
		Known:       known,
		BaseURL:     s.Platform.BaseURL,
		Token:       recently(func() (edge.Secret, error) { return ReadToken(credential) }),
		Budget:      s.sharedBudget(credential, log),
		Concurrency: s.Budget.Concurrency,
		Documented:  s.Platform.Profile == "documented",
		UserAgent:   "seawall/" + cli.ThisVersion().Version, Comment: s.sender,
		Vendor: s.Platform.Vendor, ConditionKey: s.Platform.ConditionKey, Observe: s.observe, Failed: s.Failed,
		Log: log,
	}
}
