package setup

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile"
)

// Credential is a credential for rulesets, or for tokens, as it is configured.
type Credential struct {
	Name      string // of one for rulesets: the keys of its accounts, or "default" for that of the top level
	Path      string // in the configuration
	Ref       schema.SecretRef
	BaseURL   string
	Budget    schema.Budget
	Observing bool // nothing is written with it
}

// same reports whether two are one: the same secret for the same platform.
func (c Credential) same(other Credential) bool {
	return c.Ref == other.Ref && c.BaseURL == other.BaseURL
}

// defaultLane is the name of the credential of the top level.
const defaultLane = "default"

// lanes are the credentials for rulesets, and which account has which. Accounts with the same
// credential for the same platform are together. The lanes have no clients yet.
func (s Settings) lanes() (list []Credential, all reconcile.Lanes) {
	all = reconcile.Lanes{Of: map[string]int{}, Rest: -1, Skip: map[string]bool{}}
	add := func(c Credential) int {
		i := slices.IndexFunc(list, c.same)
		if i < 0 {
			list = append(list, c)
			return len(list) - 1
		}
		have := &list[i]
		if have.Observing = have.Observing && c.Observing; have.Name != defaultLane && len(have.Name) < mostName {
			have.Name += ", " + c.Name
		}
		return i
	}
	if !s.Credentials.Rulesets.IsZero() {
		all.Rest = add(Credential{defaultLane, rulesetsPath, s.Credentials.Rulesets, s.Platform.BaseURL, s.Budget, s.Guards.Observing})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Credentials.Accounts)) {
		a := s.Credentials.Accounts[key]
		if a.Skip {
			all.Of[key], all.Skip[key] = -1, true
			continue
		}
		all.Of[key] = add(Credential{key, "accounts." + key + "." + rulesetsPath, a.Rulesets, a.BaseURL, a.Budget, a.Observing})
	}
	return list, all
}

// rulesetsPath is where the credential for rulesets is configured.
const rulesetsPath = "credentials.rulesets"

// mostName bounds the name of a credential that many accounts share, in bytes.
const mostName = 60

// Lanes are the credentials for rulesets: at least one.
func (s Settings) Lanes() []Credential {
	list, _ := s.lanes()
	return list
}

// LaneOf is the credential of an account, by its key; false where it has none.
func (s Settings) LaneOf(account string) (Credential, bool) {
	list, all := s.lanes()
	i := all.Index(account)
	if i < 0 {
		return Credential{}, false
	}
	return list[i], true
}

// with are the settings for the work with one credential.
func (s Settings) with(c Credential) Settings {
	s.Platform.BaseURL, s.Budget, s.totalRequests = c.BaseURL, c.Budget, c.Budget.Requests
	return s
}

// meters count the requests of all credentials, in the order of the lanes.
type meters []meter

// meter counts those of one.
type meter struct {
	*client.Budget
	client *client.Client
}

// requests counts what all have sent.
func (m meters) requests() (sum int64) {
	for _, b := range m {
		sum += b.client.Requests()
	}
	return sum
}

// Room implements [cli.Meter].
func (m meters) Room(urgent int) (n int) {
	for _, b := range m {
		n += b.Room(b.Class(), urgent)
	}
	return n
}

// Forecast implements [cli.Meter]: what all have left, and the time of the one that has to
// wait least.
func (m meters) Forecast() (sum client.Forecast) {
	for i, b := range m {
		f := b.Forecast()
		sum.Left += f.Left
		if i == 0 || f.Next < sum.Next {
			sum.Next, sum.Kept = f.Next, f.Kept
		}
	}
	return sum
}

// State implements [cli.Meter].
func (m meters) State() (sum client.BudgetState) {
	for _, b := range m {
		s := b.State()
		sum.Used, sum.Left, sum.Waited = sum.Used+s.Used, sum.Left+s.Left, sum.Waited+s.Waited
		sum.Pause = max(sum.Pause, s.Pause)
	}
	return sum
}

// close gives back what other processes may use, and closes the connections that the next
// daemon after a reload has no use for.
func (m meters) close() {
	for _, b := range m {
		b.Close()
		b.client.CloseIdle()
	}
}

// ReviewLanes are the clients of all credentials for reviews of pull requests, which write
// nothing and have a part of each budget. requests counts what they have sent. They are closed with the
// assembly.
func (a *Assembly) ReviewLanes(s Settings, log *slog.Logger) (lanes reconcile.Lanes, requests func() int64, err error) {
	lanes, all, err := s.dialAll(ToPlan, reviewPart, log)
	if err == nil {
		a.onClose(all.close)
	}
	return lanes, all.requests, err
}

// dialAll makes the client of each credential, with a part of its budget.
func (s Settings) dialAll(why Purpose, part func(schema.Budget) schema.Budget, log *slog.Logger) (_ reconcile.Lanes, all meters, err error) {
	list, lanes := s.lanes()
	for _, c := range list {
		of := s.with(c)
		of.why, of.Budget = why, part(c.Budget)
		lane, one, err := of.dial(c, s.logOf(c, log))
		if err != nil {
			all.close()
			return lanes, nil, err
		}
		lanes.All, all = append(lanes.All, lane), append(all, one)
	}
	return lanes, all, nil
}

// logOf is the log of what is done with a credential, which it names where there are several.
func (s Settings) logOf(c Credential, log *slog.Logger) *slog.Logger {
	if list, _ := s.lanes(); len(list) < 2 {
		return log
	}
	return log.With("credential", c.Path)
}

// dial makes the client of one credential.
func (s Settings) dial(c Credential, log *slog.Logger) (reconcile.Lane, meter, error) {
	config := s.clientConfig(c.Ref, log)
	platform, err := client.New(config)
	if err != nil {
		hint := "see platform.base_url in the configuration, or --base-url"
		switch {
		case strings.HasPrefix(err.Error(), "vendor "):
			hint = "see platform.vendor in the configuration, or --vendor of seawall import"
		case c.Name != defaultLane:
			hint = "see " + strings.TrimSuffix(c.Path, rulesetsPath) + "base_url in the configuration"
		}
		return reconcile.Lane{}, meter{}, cli.Fail(err, hint)
	}
	lane := reconcile.Lane{
		Name: c.Name, Credential: c.Path, Reader: edge.ReadOnly(platform), Writer: edge.NoWriter{}, Concurrency: c.Budget.Concurrency, Room: config.Budget.Room,
		Budget: diff.Budget{Requests: s.Budget.Requests, Per: s.Budget.Per},
		Pause:  func() time.Duration { return config.Budget.State().Pause },
	}
	if s.why.writes() && !c.Observing {
		lane.Writer = platform
	}
	if s.Platform.Extended() {
		lane.DryRunner = edge.DryRunOnly(platform)
	}
	return lane, meter{config.Budget, platform}, nil
}

// quotaOf is the budget of all credentials together, in the window of the first.
func quotaOf(lanes reconcile.Lanes) diff.Budget {
	sum := lanes.All[0].Budget
	for _, lane := range lanes.All[1:] {
		if lane.Budget.Per > 0 {
			sum.Requests += int(float64(lane.Budget.Requests) * float64(sum.Per) / float64(lane.Budget.Per))
		}
	}
	return sum
}

// withAccounts is a compiler whose states fit the accounts of a configuration: an account
// that has no credential is a mistake, one that is left out is not there.
type withAccounts struct {
	reconcile.Compiler
	settings Settings
}

// Compile implements [reconcile.Compiler].
func (w withAccounts) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	state, problems, err := w.Compiler.Compile(ctx, commit)
	if err != nil {
		return state, problems, err
	}
	_, lanes := w.settings.lanes()
	return lanes.Within(state), append(problems, AccountProblems(w.settings, state)...), nil
}

// AccountProblems says which accounts of a state have no credential, and which settings are
// of accounts that it does not declare.
func AccountProblems(s Settings, state desired.State) (problems []desired.Problem) {
	var keys []string
	for _, a := range state.Accounts {
		keys = append(keys, a.Key)
	}
	_, lanes := s.lanes()
	for _, a := range lanes.Missing(state) {
		problems = append(problems, desired.Problem{
			Origin: a.Origin, Path: "account." + a.Key,
			Message: "has no credential: in the configuration, accounts has only " + placesOf(s.Credentials.Accounts) + ", and credentials.rulesets is not set",
			Hint:    fmt.Sprintf("set accounts.%s.credentials.rulesets there, or accounts.%s.skip: true to leave the account out", a.Key, a.Key),
		})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Credentials.Accounts)) {
		if slices.Contains(keys, key) || len(keys) == 0 {
			continue
		}
		p := desired.Problem{
			Origin: s.Credentials.Accounts[key].Origin, Path: "accounts." + key, Warning: true,
			Message: "the repository declares no such account: only an account that had this key before has these settings",
		}
		if near := nearest.Word(key, keys); near != "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		problems = append(problems, p)
	}
	return problems
}

// placesOf names the accounts of a configuration with the place of each.
func placesOf(accounts schema.Accounts) string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(accounts)) {
		names = append(names, fmt.Sprintf("%s (%s)", key, accounts[key].Origin))
	}
	return strings.Join(names, ", ")
}
