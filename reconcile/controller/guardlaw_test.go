package controller

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// The law of guards. The author of commits chooses keys, labels, counts and order, and
// writes whatever history suits. Whatever a daemon then writes that is weaker than what an
// approval named last, or than what was live before there were guards, was named by an
// approval, or is within what a limit allows of the zones that exist. Zones that are only
// observed are never written.
//
// What is live is judged by guardOracle, which knows the truth about zones by the ids of
// the platform and nothing of package guard.

// lawGuards are configurations of guards. The oracle knows each by its name.
var lawGuards = map[string]func() reconcile.Guards{
	"approve weakening": func() reconcile.Guards { return approving(guard.ApproveWeakening) },
	"approve all":       func() reconcile.Guards { return approving(guard.ApproveAll) },
	"approve gold": func() reconcile.Guards {
		return reconcile.Guards{Rules: []guard.Rule{{Name: "gold", Labels: gold, Approve: guard.ApproveWeakening}}}
	},
	"limit share": func() reconcile.Guards {
		return reconcile.Guards{Rules: []guard.Rule{{Name: "fleet", Weakening: &guard.Limit{Percent: new(25), Floor: 1}}}}
	},
	"limit gold": func() reconcile.Guards {
		return reconcile.Guards{Rules: []guard.Rule{{Name: "gold", Labels: gold, Weakening: &guard.Limit{Count: new(0)}}}}
	},
	"limit changes": func() reconcile.Guards { return atMost(2) },
	"observe account": func() reconcile.Guards {
		return reconcile.Guards{
			Observe:  []guard.Observe{{Setting: "observe[0]", Account: "b"}},
			Accounts: guard.Accounts{Settings: map[string]guard.AccountSettings{"b": {}}},
		}
	},
	"observe gold": func() reconcile.Guards {
		return reconcile.Guards{Observe: []guard.Observe{{Setting: "observe[0]", Labels: gold}}}
	},
	"shrink": func() reconcile.Guards { return reconcile.Guards{} },
}

var gold = guard.Labels{"tier": "gold"}

// lawZones is how many zones the platform has: the first half in account a, the rest in b.
const lawZones = 8

// lawInterval is short: the daemon looks at its ledger in each second of it.
const lawInterval = 20 * time.Minute

// lawStep is one thing that the author of commits, a person or the world does.
type lawStep struct {
	Do    string
	Zones []int // of the fleet, from 1
	Tags  []string
	N     int
}

// Most histories that get past a guard are a few edits in one commit or two, so an edit is
// pushed with the next "push".
var lawEdits = []string{
	"weaken", "weaken", "weaken", "strengthen", "disable", "enable", "label", "unlabel", "rename zones", "rename account", "rename ruleset",
	"pad", "pad gold", "unpad", "remove", "return", "undeploy", "deploy", "widen token", "rotate token", "rename token", "move sink",
}

var lawEvents = []string{"push", "push", "push", "push", "push", "restart", "click", "pass", "approve", "approve"}

// lawAttacks are edits that are drawn more often, by guard.
var lawAttacks = map[string][]string{
	"approve weakening": {"weaken", "disable", "undeploy", "rotate token", "widen token", "move sink", "pass"},
	"approve all":       {"weaken", "rotate token", "widen token", "pass"},
	"approve gold":      {"weaken", "unlabel", "label", "rename zones", "remove", "return"},
	"limit share":       {"weaken", "weaken", "pad"},
	"limit gold":        {"weaken", "unlabel", "strengthen", "remove", "return"},
	"limit changes":     {"weaken", "undeploy", "disable"},
	"observe account":   {"weaken", "rename account", "strengthen"},
	"observe gold":      {"weaken", "unlabel", "remove", "return"},
	"shrink":            {"undeploy", "undeploy", "undeploy", "pad", "rename ruleset", "deploy"},
}

func drawHistory(t *rapid.T, name string) []lawStep {
	fleet := make([]int, lawZones)
	for i := range fleet {
		fleet[i] = i + 1
	}
	attacks := append([]string{"push"}, lawAttacks[name]...)
	step := rapid.Custom(func(t *rapid.T) lawStep {
		return lawStep{
			Do:    rapid.SampledFrom(slices.Concat(lawEdits, lawEvents, attacks, attacks, attacks)).Draw(t, "do"),
			Zones: chosen(fleet).Draw(t, "zones"), Tags: chosen(gitTags).Draw(t, "tags"), N: evenly(40).Draw(t, "n"),
		}
	})
	return rapid.SliceOfN(step, 10, 30).Draw(t, "steps")
}

// lawHistory is a whole history, under guards that have a name.
type lawHistory struct {
	Guard    string
	Extended bool // the platform lists its tokens
	Steps    []lawStep
}

// TestNoGuardIsPassed holds generated histories to the law.
//
// To see that it can fail: TestLawOfGuardsSees takes each guard away from the daemon while
// the oracle still counts on it.
func TestNoGuardIsPassed(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(lawGuards)) {
		t.Run(name, func(t *testing.T) {
			soak.Draws(t, 6)
			n := 0
			rapid.Check(t, func(rt *rapid.T) {
				h := lawHistory{Guard: name, Extended: rapid.Bool().Draw(rt, "extended"), Steps: drawHistory(rt, name)}
				n++
				l := playHistory(t, h, lawGuards[name](), filepath.Join(t.TempDir(), fmt.Sprint(n), "ledger.db"))
				if len(l.oracle.wrong) > 0 {
					rt.Fatalf("%s\n\n%s", strings.Join(l.oracle.wrong, "\n"), strings.Join(l.log, "\n"))
				}
			})
		})
	}
}

var (
	lawPush = lawStep{Do: "push"}
	lawAll  = []int{1, 2, 3, 4, 5, 6, 7, 8}
)

// lawWays are histories that once got past a guard, or are close to one that did.
var lawWays = map[string]lawHistory{
	"a rotation with more rights": {"approve all", true, []lawStep{
		{Do: "approve"}, {Do: "pass"}, {Do: "widen token", N: 1}, {Do: "rotate token", N: 1}, lawPush, {Do: "pass"},
	}},
	"more rights wait, and a rotation falls due": {"approve all", true, []lawStep{
		{Do: "rotate token", N: 1}, lawPush, {Do: "approve"}, {Do: "approve", N: 1}, {Do: "widen token", N: 1}, lawPush, {Do: "pass"}, {Do: "pass"},
	}},
	"a rotation of tokens that live longer": {"approve all", true, []lawStep{
		{Do: "rotate token", N: 1}, lawPush, {Do: "approve"}, {Do: "approve", N: 1}, {Do: "rotate token", N: 3}, lawPush, {Do: "pass"}, {Do: "pass"},
	}},
	"a token goes to another sink": {"approve weakening", false, []lawStep{{Do: "approve"}, {Do: "pass"}, {Do: "move sink"}, lawPush, {Do: "pass"}}},
	"a rotation goes to another sink": {"approve weakening", true, []lawStep{
		{Do: "rotate token", N: 1}, lawPush, {Do: "approve"}, {Do: "approve", N: 1}, {Do: "move sink"}, lawPush, {Do: "pass"}, {Do: "pass"},
	}},
	"a share that is padded": {"limit share", false, []lawStep{
		{Do: "pad", N: 30}, {Do: "weaken", Zones: lawAll[:6], Tags: gitTags}, lawPush,
	}},
	"a share that is padded by the commit before": {"limit share", false, []lawStep{
		{Do: "pad", N: 30}, lawPush, {Do: "weaken", Zones: lawAll[:6], Tags: gitTags}, lawPush, {Do: "restart"}, {Do: "pass"},
	}},
	"removals are weakening": {"limit changes", false, []lawStep{{Do: "undeploy", Zones: lawAll[:3]}, lawPush}},
	"an account that is renamed": {"observe account", false, []lawStep{
		{Do: "weaken", Zones: lawAll, Tags: gitTags}, {Do: "rename account", N: 1}, lawPush, {Do: "restart"}, {Do: "pass"},
	}},
	"an account that is renamed twice": {"observe account", false, []lawStep{
		{Do: "rename account", N: 1}, lawPush, {Do: "restart"}, {Do: "rename account", N: 1}, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"zones of an account go and return": {"observe account", false, []lawStep{
		{Do: "remove", Zones: lawAll[4:]}, lawPush, {Do: "return", Zones: lawAll[4:]}, {Do: "rename account", N: 1}, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"a label goes first": {"approve gold", false, []lawStep{
		{Do: "unlabel", Zones: lawAll}, lawPush, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"a label goes first, and the daemon restarts": {"approve gold", false, []lawStep{
		{Do: "unlabel", Zones: lawAll}, lawPush, {Do: "restart"}, {Do: "pass"}, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"a label goes while it gets stronger": {"limit gold", false, []lawStep{
		{Do: "click", Zones: lawAll[:2], Tags: gitTags}, {Do: "unlabel", Zones: lawAll}, lawPush, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"a zone goes and returns without its label": {"approve gold", false, []lawStep{
		{Do: "remove", Zones: []int{2}},
		lawPush,
		{Do: "return", Zones: []int{2}},
		{Do: "unlabel", Zones: []int{2}},
		lawPush,
		{Do: "weaken", Zones: []int{2}, Tags: gitTags},
		lawPush,
	}},
	"a label of an observed zone goes": {"observe gold", false, []lawStep{
		{Do: "unlabel", Zones: lawAll}, lawPush, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush,
	}},
	"a label that was never proved goes": {"approve gold", false, []lawStep{
		{Do: "label", Zones: []int{1}}, {Do: "weaken", Zones: []int{1}, Tags: gitTags}, lawPush, {Do: "unlabel", Zones: []int{1}}, lawPush,
	}},
	"made-up zones beside those that go": {"shrink", false, []lawStep{
		{Do: "pad", N: 8}, {Do: "undeploy", Zones: lawAll[:7]}, lawPush, {Do: "restart"}, {Do: "pass"},
	}},
	"made-up zones before those that go": {"shrink", false, []lawStep{
		{Do: "pad", N: 30}, lawPush, {Do: "undeploy", Zones: lawAll[:7]}, lawPush,
	}},
}

// TestWaysPastGuards holds to the law what once got past a guard.
func TestWaysPastGuards(t *testing.T) {
	for name, h := range lawWays {
		t.Run(name, func(t *testing.T) {
			l := playHistory(t, h, lawGuards[h.Guard](), filepath.Join(t.TempDir(), "ledger.db"))
			if len(l.oracle.wrong) > 0 {
				t.Errorf("%s\n\n%s", strings.Join(l.oracle.wrong, "\n"), strings.Join(l.log, "\n"))
			}
		})
	}
}

// TestLawOfGuardsSees: without its guard, a short history breaks the law of each.
func TestLawOfGuardsSees(t *testing.T) {
	weaken := []lawStep{lawPush, {Do: "label", Zones: lawAll}, lawPush, {Do: "weaken", Zones: lawAll, Tags: gitTags}, lawPush}
	for _, name := range slices.Sorted(maps.Keys(lawGuards)) {
		t.Run(name, func(t *testing.T) {
			steps, guards := weaken, reconcile.Guards{}
			if name == "shrink" {
				steps, guards.Shrink = []lawStep{lawPush, {Do: "undeploy", Zones: lawAll[:7]}, lawPush}, guard.Shrink{Floor: 1000}
			}
			l := playHistory(t, lawHistory{Guard: name, Steps: steps}, guards, filepath.Join(t.TempDir(), "ledger.db"))
			if len(l.oracle.wrong) == 0 {
				t.Errorf("nothing is against the law:\n%s", strings.Join(l.log, "\n"))
			}
		})
	}
}

// lawRun is one history.
type lawRun struct {
	*fixture
	path   string
	open   *ledger.Ledger
	tokens *tokenWorld
	oracle *guardOracle
	author *author
	pushes int
	log    []string
}

func playHistory(t *testing.T, h lawHistory, guards reconcile.Guards, path string) (l *lawRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l = newLawRun(t, h, guards, path)
		l.push()
		l.fixture.start()
		for _, step := range h.Steps {
			l.take(step)
		}
		l.push()
		l.pass(lawInterval)
		l.stop()
		l.close()
	})
	return l
}

func newLawRun(t *testing.T, h lawHistory, guards reconcile.Guards, path string) *lawRun {
	seed := mem.Fleet(lawZones)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: accountB, Rulesets: seed.Accounts[0].Rulesets})
	f := fixtureOn(t, mem.Config{Seed: seed, Profile: mem.Extended, Now: time.Now})
	f.Sweep, f.Interval, f.Guards = cron.Every(lawInterval), lawInterval, guards
	f.Tick = soon - time.Second // most time passes in these
	l := &lawRun{fixture: f, path: path, author: newAuthor(), oracle: newGuardOracle(h.Guard, f.Platform)}
	l.oracle.commit = func() string { return f.control.Accepted() }
	l.tokens = &tokenWorld{sealed: map[string]edge.Secret{}, sunk: map[desired.Sink]int{}}
	calls := token.Calls{Writer: &watchedTokens{f.Platform, l.oracle}}
	if h.Extended {
		calls.Reader = f.Platform
	}
	l.newTokens = func() *token.Worker {
		return token.New(token.Config{Memory: l.tokens, Calls: calls, Sinks: &watchedSinks{l.tokens, l.oracle}, Now: time.Now})
	}
	l.Lanes.All[0].Reader, l.Lanes.All[0].Writer = f.calls, &watched{f.calls, l.oracle}
	l.keep = l.reopen
	return l
}

// reopen is the ledger of the next process.
func (l *lawRun) reopen() control.Records {
	l.close()
	memory, err := ledger.Open(l.path)
	must.Do(l.t, err)
	l.open = memory
	return memory
}

func (l *lawRun) close() {
	if l.open == nil {
		return
	}
	if err := l.open.Close(); err != nil {
		l.t.Errorf("%v", err)
	}
}

func (l *lawRun) note(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

// take takes a step.
func (l *lawRun) take(s lawStep) {
	switch s.Do {
	case "push":
		l.push()
	case "restart":
		l.note("restart")
		l.restart()
	case "click":
		for _, i := range s.Zones[:min(len(s.Zones), 2)] {
			l.note("a person sets %v off in zone %d", s.Tags, i)
			if len(l.Entry(i).Rules) > 0 {
				l.click(i, s.Tags...)
			}
		}
	case "pass":
		l.note("%v pass", lawInterval)
		l.pass(lawInterval)
	case "approve":
		l.approveSome(s.N)
	default:
		l.note("%s %v %v", s.Do, s.Zones, s.Tags)
		l.author.edit(s)
	}
}

// push makes what the author has written a commit, and lets the daemon work on it.
func (l *lawRun) push() {
	l.pushes++
	name := fmt.Sprintf("c%d", l.pushes)
	state := l.author.state(name)
	l.oracle.pushed(name, l.author)
	l.repo.Commit(name, commit{State: state})
	l.note("push %s", name)
	if l.source != nil {
		l.source.Poke()
		l.pass(soon)
	}
}

// approveSome approves what one refusal of the last reports names, and tells the oracle
// which changes these are.
func (l *lawRun) approveSome(n int) {
	named, commits := map[string]map[string]diff.Change{}, map[string]string{}
	for _, report := range l.journal.all() {
		for _, c := range report.Plan.Changes {
			if c.Refused == nil || c.Refused.Digest == "" {
				continue
			}
			if named[c.Refused.Digest] == nil {
				named[c.Refused.Digest] = map[string]diff.Change{}
			}
			named[c.Refused.Digest][c.Name()], commits[c.Refused.Digest] = c, report.Plan.Commit
		}
	}
	if len(named) == 0 {
		return
	}
	digests := slices.Sorted(maps.Keys(named))
	digest := digests[n%len(digests)]
	l.note("approve %s", digest)
	for _, c := range named[digest] {
		l.note("  %s of %s", c.Name(), commits[digest])
		l.oracle.approved(commits[digest], c)
	}
	word := reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: "kim", At: time.Now()}
	must.Do(l.t, l.open.Approve(context.Background(), []reconcile.Approval{word}))
	l.pass(soon)
}
