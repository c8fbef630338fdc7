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

// Lane is a credential for rulesets as it is configured.
type Lane struct {
	Name       string // the keys of its accounts, or "default" for that of the top level
	Path       string // in the configuration
	Credential schema.SecretRef
	BaseURL    string
	Budget     schema.Budget
	Observing  bool // nothing is written with it
}

// laneMap are all lanes, and which account has which.
type laneMap struct {
	lanes []Lane
	of    map[string]int // by the key of an account; below zero for one that is left out
	rest  int            // of the accounts that are not in it; below zero for none
	skip  map[string]bool
}

// defaultLane is the name of the credential of the top level.
const defaultLane = "default"

// laneMap puts accounts with the same credential for the same platform together.
func (s Settings) laneMap() laneMap {
	m := laneMap{of: map[string]int{}, rest: -1, skip: map[string]bool{}}
	add := func(l Lane) int {
		i := slices.IndexFunc(m.lanes, func(have Lane) bool { return have.Credential == l.Credential && have.BaseURL == l.BaseURL })
		if i < 0 {
			m.lanes = append(m.lanes, l)
			return len(m.lanes) - 1
		}
		have := &m.lanes[i]
		if have.Observing = have.Observing && l.Observing; have.Name != defaultLane && len(have.Name) < mostName {
			have.Name += ", " + l.Name
		}
		return i
	}
	if !s.Credentials.Rulesets.IsZero() {
		m.rest = add(Lane{defaultLane, rulesetsPath, s.Credentials.Rulesets, s.Platform.BaseURL, s.Budget, s.Guards.Observing})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Credentials.Accounts)) {
		a := s.Credentials.Accounts[key]
		if a.Skip {
			m.of[key], m.skip[key] = -1, true
			continue
		}
		m.of[key] = add(Lane{key, "accounts." + key + "." + rulesetsPath, a.Rulesets, a.BaseURL, a.Budget, a.Observing})
	}
	return m
}

// rulesetsPath is where the credential for rulesets is configured.
const rulesetsPath = "credentials.rulesets"

// mostName bounds the name of a credential that many accounts share, in bytes.
const mostName = 60

// Lanes are the credentials for rulesets: at least one.
func (s Settings) Lanes() []Lane { return s.laneMap().lanes }

// LaneOf is the credential of an account, by its key; false where it has none.
func (s Settings) LaneOf(account string) (Lane, bool) {
	m := s.laneMap()
	i, ok := m.of[account]
	if !ok {
		i = m.rest
	}
	if i < 0 {
		return Lane{}, false
	}
	return m.lanes[i], true
}

// With are the settings for the work with one credential.
func (s Settings) With(l Lane) Settings {
	s.Platform.BaseURL, s.Budget, s.TotalRequests = l.BaseURL, l.Budget, l.Budget.Requests
	return s
}

// budgetOf is what work other than reviews of pull requests has of a credential's budget.
func (s Settings) budgetOf(l Lane) diff.Budget { return s.With(l).RequestBudget() }

// meters count the requests of all credentials, in the order of the lanes.
type meters []*client.Budget

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
			sum.Next = f.Next
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

// close gives back what other processes may use.
func (m meters) close() {
	for _, b := range m {
		b.Close()
	}
}

// connect makes the clients of all credentials.
func (s Settings) connect(why Purpose, log *slog.Logger) (lanes reconcile.Lanes, requests func() int64, _ meters, err error) {
	m := s.laneMap()
	lanes = reconcile.Lanes{Of: m.of, Rest: m.rest, Skip: m.skip}
	var budgets meters
	for _, l := range m.lanes {
		of := s.With(l)
		of.why = why
		if why.serves() && s.Forge != nil {
			_, of.Budget = ReviewBudget(l.Budget) // the rest is for reviews of pull requests
		}
		lane, budget, err := of.dial(l, log)
		if err != nil {
			budgets.close()
			return lanes, nil, nil, err
		}
		lane.Budget = s.budgetOf(l)
		lanes.All, budgets = append(lanes.All, lane), append(budgets, budget)
	}
	requests = requestsOf(lanes)
	for i, l := range m.lanes {
		lanes.All[i].Reader = edge.ReadOnly(lanes.All[i].Reader)
		if !why.writes() || l.Observing {
			lanes.All[i].Writer = edge.NoWriter{}
		}
	}
	return lanes, requests, budgets, nil
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

// dial makes the client of one credential, which can write.
func (s Settings) dial(l Lane, log *slog.Logger) (reconcile.Lane, *client.Budget, error) {
	config := s.ClientConfig(l.Credential, log)
	platform, err := client.New(config)
	if err != nil {
		hint := "see platform.base_url in the configuration, or --base-url"
		if l.Name != defaultLane {
			hint = "see " + strings.TrimSuffix(l.Path, rulesetsPath) + "base_url in the configuration"
		}
		return reconcile.Lane{}, nil, cli.Fail(err, hint)
	}
	var dry edge.DryRunner
	if s.Platform.Extended() {
		dry = edge.DryRunOnly(platform)
	}
	return reconcile.Lane{
		DryRunner: dry,
		Name:      l.Name, Credential: l.Path, Reader: platform, Writer: platform, Concurrency: l.Budget.Concurrency, Room: config.Budget.Room,
		Budget: diff.Budget{Requests: s.Budget.Requests, Per: s.Budget.Per},
		Pause:  func() time.Duration { return config.Budget.State().Pause },
	}, config.Budget, nil
}

// ReviewLanes are the clients of all credentials for reviews of pull requests, which write
// nothing and have a part of each budget. requests counts what they have sent.
func (s Settings) ReviewLanes(log *slog.Logger) (lanes reconcile.Lanes, requests func() int64, err error) {
	m := s.laneMap()
	lanes = reconcile.Lanes{Of: m.of, Rest: m.rest, Skip: m.skip}
	for _, l := range m.lanes {
		of := s.With(l)
		of.Budget, _ = ReviewBudget(l.Budget)
		of.why = ToPlan
		lane, _, err := of.dial(l, log)
		if err != nil {
			return lanes, nil, err
		}
		lanes.All = append(lanes.All, lane)
	}
	requests = requestsOf(lanes)
	for i := range lanes.All {
		lanes.All[i].Reader, lanes.All[i].Writer = edge.ReadOnly(lanes.All[i].Reader), edge.NoWriter{}
	}
	return lanes, requests, nil
}

// requestsOf counts what the clients of lanes have sent.
func requestsOf(lanes reconcile.Lanes) func() int64 {
	var counters []interface{ Requests() int64 }
	for _, lane := range lanes.All {
		if c, ok := lane.Reader.(interface{ Requests() int64 }); ok {
			counters = append(counters, c)
		}
	}
	return func() (sum int64) {
		for _, c := range counters {
			sum += c.Requests()
		}
		return sum
	}
}

// withAccounts is a compiler whose states fit the accounts of a configuration: an account
// that has no credential is a mistake, one that is left out is not there.
type withAccounts struct {
	reconcile.Compiler
	config schema.Config
	lanes  reconcile.Lanes
}

// Compile implements [reconcile.Compiler].
func (w withAccounts) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	state, problems, err := w.Compiler.Compile(ctx, commit)
	if err != nil {
		return state, problems, err
	}
	problems = append(problems, accountProblems(w.config, w.lanes, state)...)
	return w.lanes.Within(state), problems, nil
}

// AccountProblems says which accounts of a state have no credential, and which settings are
// of accounts that it does not declare.
func AccountProblems(s Settings, state desired.State) []desired.Problem {
	m := s.laneMap()
	return accountProblems(s.Config, reconcile.Lanes{Of: m.of, Rest: m.rest, Skip: m.skip}, state)
}

// accountProblems says which accounts of a state have no credential, and which settings are
// of accounts that it does not declare.
func accountProblems(config schema.Config, lanes reconcile.Lanes, state desired.State) (problems []desired.Problem) {
	declared := map[string]bool{}
	var keys []string
	for _, a := range state.Accounts {
		declared[a.Key] = true
		keys = append(keys, a.Key)
	}
	for _, a := range lanes.Missing(state) {
		problems = append(problems, desired.Problem{
			Origin: a.Origin, Path: "account." + a.Key,
			Message: "has no credential: in the configuration, accounts has only " + placesOf(config) + ", and credentials.rulesets is not set",
			Hint:    fmt.Sprintf("set accounts.%s.credentials.rulesets there, or accounts.%s.skip: true to leave the account out", a.Key, a.Key),
		})
	}
	for _, key := range slices.Sorted(maps.Keys(config.Credentials.Accounts)) {
		if declared[key] || len(state.Accounts) == 0 {
			continue
		}
		p := desired.Problem{
			Origin: config.Credentials.Accounts[key].Origin, Path: "accounts." + key, Warning: true,
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
func placesOf(config schema.Config) string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(config.Credentials.Accounts)) {
		o := config.Credentials.Accounts[key].Origin
		names = append(names, fmt.Sprintf("%s (%s)", key, o))
	}
	return strings.Join(names, ", ")
}
