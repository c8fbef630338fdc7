package tokens

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/sink"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// tokenKeys are the declared tokens; each has the same name on the platform and
// the same key below the sink "ci".
var tokenKeys = []string{"ci-dns", "deploy", "metrics"}

// tokenPlace says where creations of tokens leave their traces. It travels to
// other processes as JSON.
type tokenPlace struct {
	BaseURL, Rulesets, Tokens string // the platform and its two credentials
	State, Sink               string // folders
	Repository                string // of the desired state

	Scene    string        // which of scenes is declared; empty: the plain one
	Extended bool          // the platform is known to have the calls beyond the reference
	Ahead    time.Duration // how far the clock is ahead of the real one

	Rotate edge.TokenID // the newest token of rotatingKey, whose successor a person asks for
}

// byHand is the order of somebody who knows that a commit declares less.
var byHand = once.Order{AllowShrink: true}

func (p tokenPlace) ledgerFile() string { return filepath.Join(p.State, "ledger.db") }

func (p tokenPlace) binding() ledger.Binding {
	return ledger.Binding{Platform: p.BaseURL, Repository: p.Repository}
}

// open opens the ledger as a process of its own would. The caller closes it.
func (p tokenPlace) open(how func(string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	l, err := how(p.ledgerFile())
	if err != nil {
		return nil, err
	}
	l.Binding = p.binding()
	return l, nil
}

// tokenRun is an apply and what its token work stands on, which a test may put itself
// in front of.
type tokenRun struct {
	once.Run
	tokens token.Config
	order  once.Order
}

// apply makes one apply by hand.
func (r *tokenRun) apply(ctx context.Context) reconcile.Report {
	r.Tokens = token.New(r.tokens)
	return r.Apply(ctx, r.order)
}

// tokenRunOf is an apply of tokens over a ledger; where the secrets go and what the
// platform is are in config.
func tokenRunOf(commit tokenCommit, l *ledger.Ledger, rulesets edge.Platform, config token.Config) *tokenRun {
	git := source.New(source.Config{Source: commit, Compiler: commit, Now: config.Now})
	config.Memory = l
	return &tokenRun{once.Run{Source: git, Records: l, Lanes: reconcile.OneLane(reconcile.Lane{Reader: rulesets, Writer: rulesets}), Now: config.Now}, config, byHand}
}

// run is the real thing but for git and CUE: ledger, client and file sink.
func (p tokenPlace) run(l *ledger.Ledger) (*tokenRun, error) {
	var clients [2]*client.Client
	for i, value := range []string{p.Rulesets, p.Tokens} {
		secret := edge.NewSecret(value)
		c, err := client.New(client.Config{
			BaseURL: p.BaseURL, Token: func() (edge.Secret, error) { return secret, nil }, Budget: client.NewBudget(1_000_000, time.Minute), Retry: retry.Request.Within(time.Millisecond),
		})
		if err != nil {
			return nil, err
		}
		clients[i] = c
	}
	sinks, err := sink.New(map[string]sink.Config{"ci": {File: &sink.File{Root: p.Sink}}})
	if err != nil {
		return nil, err
	}
	config := token.Config{Calls: token.Calls{Writer: clients[1]}, Sinks: sinks, Now: p.now}
	if p.Extended {
		config.Reader, config.NameSuffix = clients[1], " [{intent}]"
	}
	r := tokenRunOf(tokenCommit(scenes[p.Scene]()), l, clients[0], config)
	if r.order.Rotate = p.Rotate; p.Rotate != "" {
		r.order.Tokens = []string{rotatingKey}
	}
	return r, nil
}

func (p tokenPlace) now() time.Time { return time.Now().Add(p.Ahead) }

// tokenCommit is a commit that declares tokens.
type tokenCommit []desired.Token

func (tokenCommit) Fetch(context.Context) (string, error) { return "c1", nil }

func (c tokenCommit) Compile(_ context.Context, commit string) (desired.State, []desired.Problem, error) {
	return desired.State{Commit: commit, Tokens: c}, nil, nil
}

// plainToken is a declaration that has nothing special.
func plainToken(key string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect: "allow", Resources: []desired.Resource{{Key: edge.ResourceAllZones}},
			PermissionGroups: []desired.PermissionGroup{{ID: mem.RulesGroup}},
		}},
	}
}

// tokenWorld is a place as a test looks at it.
type tokenWorld struct {
	tokenPlace
	*harness.Platform
	adopted map[edge.TokenID]bool // a person has their secrets
}

func tokenWorldIn(t *testing.T, dir, repository string) *tokenWorld {
	t.Helper()
	return tokenWorldOn(harness.StartPlatform(t, harness.Fleet(1)), dir, repository)
}

func tokenWorldOn(p *harness.Platform, dir, repository string) *tokenWorld {
	return &tokenWorld{tokenPlace{
		BaseURL: p.BaseURL, Rulesets: p.RulesetsToken.Reveal(), Tokens: p.TokensToken.Reveal(),
		State: filepath.Join(dir, "state"), Sink: filepath.Join(dir, "sink"), Repository: repository,
	}, p, map[edge.TokenID]bool{}}
}

// newTokenWorld starts a simulator and gives the ledger a person's word.
func newTokenWorld(t *testing.T) *tokenWorld {
	t.Helper()
	w := tokenWorldIn(t, t.TempDir(), "https://git.example/edge.git")
	w.locked(func(l *ledger.Ledger) error { return l.Init(t.Context(), l.Binding) })
	return w
}

// locked does something with the ledger that needs its lock.
func (w *tokenWorld) locked(do func(*ledger.Ledger) error) {
	w.T.Helper()
	l, err := w.open(ledger.Open)
	must.Do(w.T, err)
	defer l.Close()
	must.Do(w.T, l.LockTokens(w.T.Context()))
	must.Do(w.T, do(l))
}

// runOnce makes one run in this process.
func (w *tokenWorld) runOnce() (report reconcile.Report) {
	w.T.Helper()
	w.locked(func(l *ledger.Ledger) error {
		r, err := w.tokenPlace.run(l)
		if err == nil {
			report = r.apply(w.T.Context())
		}
		return err
	})
	return report
}
