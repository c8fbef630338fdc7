package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 10)) }

// The crash model: generated fleets and histories, with the real client, budget, ledger,
// source, control and queue, and processes that end at any call.
const (
	crashInterval = 5 * time.Minute
	// crashPatience is how long a zone may go unseen while nothing is wrong.
	crashPatience = crashInterval + 30*time.Second
	crashWorkers  = 4
	crashRequests = 120
	crashPer      = time.Minute
	crashLatency  = 400 * time.Millisecond // of each request: much happens meanwhile
)

// Tags are of git or of people, so that the model can tell whose they are.
var (
	gitTags  = []string{"rce", "wordpress", "xss"}
	handTags = []string{"php", "sqli"}
)

// keeps reports whether a zone's declarations keep what people have switched off: that
// of every second zone.
func keeps(id edge.Scope) bool { return (id.ID[len(id.ID)-1]-'0')%2 == 0 }

// crashEvent is a step of a history. What its numbers mean depends on what it does.
type crashEvent struct {
	Do    string
	Zones []int // of the fleet, from 1
	Git   []string
	Hand  []string
	N     int
	For   time.Duration
}

// crashScript is a whole history.
type crashScript struct {
	Zones                 int
	Waves, Freeze, Approv bool
	Limit                 int // zones a commit, and an interval of drift; 0: any number
	Events                []crashEvent
}

var crashTimes = []time.Duration{
	0, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 6 * time.Second, 15 * time.Second, 45 * time.Second, 100 * time.Second, 6 * time.Minute,
}

var crashSteps = []string{
	"push", "push", "push", "push", "revert", "bad", "fewer", "click", "click", "click", "click", "hold", "release", "crash", "crash", "crash", "crash loop",
	"pass", "pass", "pass", "down", "slow", "lose", "ignore", "disk", "approve", "approve", "resume",
}

// evenly draws a number below n. Those of rapid itself are small ones most of the time.
func evenly(n int) *rapid.Generator[int] {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return rapid.SampledFrom(all)
}

// chosen draws some of a few.
func chosen[T any](all []T) *rapid.Generator[[]T] {
	return rapid.Map(evenly(1<<len(all)), func(bits int) (some []T) {
		for i, one := range all {
			if bits>>i&1 == 1 {
				some = append(some, one)
			}
		}
		return some
	})
}

func drawScript(t *rapid.T) crashScript {
	s := crashScript{
		Zones: 3 + evenly(7).Draw(t, "zones"), Waves: rapid.Bool().Draw(t, "waves"), Freeze: rapid.Bool().Draw(t, "freeze"),
		Approv: rapid.Bool().Draw(t, "approvals"), Limit: rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "limit"),
	}
	fleet := make([]int, s.Zones)
	for i := range fleet {
		fleet[i] = i + 1
	}
	event := rapid.Custom(func(t *rapid.T) crashEvent {
		return crashEvent{
			Do:    rapid.SampledFrom(crashSteps).Draw(t, "do"),
			Zones: chosen(fleet).Filter(func(some []int) bool { return len(some) > 0 }).Draw(t, "zones"),
			Git:   chosen(gitTags).Draw(t, "git"), Hand: chosen(handTags).Draw(t, "hand"),
			N:   evenly(40).Draw(t, "n"),
			For: rapid.SampledFrom(crashTimes).Draw(t, "for"),
		}
	})
	s.Events = rapid.SliceOfN(event, 20, 40).Draw(t, "events")
	return s
}

// crashes is a run of a script.
type crashes struct {
	server   *sim.Server
	budget   *client.Budget
	repo     *reconciletest.Repo
	path     string
	people   *ledger.Ledger // what people do beside the daemon
	config   Config
	limit    int
	approves bool
	laws     *laws
	faults   *faults

	life   *life
	lives  sync.WaitGroup
	doomed []int // when later processes end; see life.endsAfter

	zones   []zoneT // as the head of git declares them
	history [][]zoneT
	pushes  int

	logging sync.Mutex
	log     []string
}

// TestCrashes: whatever happens in whatever order, and wherever processes end, no write
// passes a guard, no span has more requests than the budget, zones are looked at in time,
// what people do under keep is never undone, and in the end everything is as git says.
//
// It found that drift which an earlier process had healed counted for no limit any more
// where that process had ended before the declarations in force were on record
// (TestDriftCountsWhereTheStateIsNotOnRecord), and that what became of a zone under one
// commit counted for the waves of the next, so that the zone passed a halt. To see that it can fail, take out of the
// code: the guards in Control.Permit; the widening of ownership before a write; the record
// of drifts; the waves in rollout.delays; the turns in Controller.fill.
func TestCrashes(t *testing.T) {
	n, all := 0, tally{}
	rapid.Check(t, func(rt *rapid.T) {
		script := drawScript(rt)
		n++
		path := filepath.Join(t.TempDir(), fmt.Sprint(n), "ledger.db")
		var w *crashes
		synctest.Test(t, func(*testing.T) {
			w = newCrashes(script, path)
			w.play(script)
		})
		all.add(w.laws.tally)
		if len(w.laws.wrong) > 0 {
			rt.Fatalf("%s\n\n%s", strings.Join(w.laws.wrong, "\n"), strings.Join(w.log, "\n"))
		}
	})
	t.Logf("%d histories: %+v", n, all)
}

func newCrashes(s crashScript, path string) *crashes {
	w := &crashes{repo: reconciletest.NewRepo(), path: path, budget: client.NewBudget(crashRequests, crashPer), limit: s.Limit, approves: s.Approv, faults: &faults{}}
	happenings := 0
	w.laws = &laws{commits: map[string]desired.State{}, zones: map[edge.Scope]*zoneTruth{}, changed: map[string]map[edge.Scope]bool{}, healed: map[edge.Scope]time.Time{}}
	var err, opened error
	w.server, err = sim.New(sim.Config{Seed: mem.Fleet(s.Zones), RateLimit: sim.RateLimit{Requests: crashRequests, Per: crashPer}})
	w.people, opened = ledger.Open(path)
	if err := errors.Join(err, opened); err != nil {
		panic(err)
	}
	for i := 1; i <= s.Zones; i++ {
		z := zoneOf(i, core())
		if keeps(z.Scope) {
			z.Deployments[0] = keeping(z.Deployments[0])
		}
		z.Labels = map[string]string{"tier": []string{"gold", "plain", "plain"}[i%3], "ring": []string{"canary", "rest"}[min(i/3, 1)]}
		w.zones = append(w.zones, z)
		w.laws.zones[z.Scope] = &zoneTruth{happenings: &happenings}
	}
	w.config = Config{
		Sweep: cron.Every(crashInterval), Interval: crashInterval, Guards: s.guards(),
		Lanes: reconcile.OneLane(reconcile.Lane{
			Budget: diff.Budget{Requests: crashRequests, Per: crashPer}, Room: w.budget.Room, Concurrency: crashWorkers,
		}),
	}
	return w
}

func (s crashScript) guards() (g reconcile.Guards) {
	if s.Waves {
		g.Waves = []reconcile.Wave{
			{Labels: guard.Labels{"ring": "canary"}, Soak: 2 * time.Minute, Halt: careful}, {Count: 2, Soak: time.Minute, Halt: careful},
		}
	}
	if s.Freeze {
		schedule, err := cron.ParseStandard("10-59/20 * * * *")
		if err != nil {
			panic(err)
		}
		g.Freezes = []reconcile.Freeze{{Name: "tea", Schedule: schedule, For: 4 * time.Minute, Zone: time.UTC}}
	}
	if s.Limit > 0 {
		g.Rules = append(g.Rules, guard.Rule{Name: "fleet", Changes: &guard.Limit{Count: &s.Limit}})
	}
	if s.Approv {
		g.Rules = append(g.Rules, guard.Rule{Name: "gold", Labels: guard.Labels{"tier": "gold"}, Approve: guard.ApproveWeakening})
	}
	return g
}

// play runs a script to its end, and has everything converge.
func (w *crashes) play(s crashScript) {
	defer w.end()
	w.push("c", w.zones)
	w.begin()
	w.pass(time.Minute)
	for _, e := range s.Events {
		w.logf("%+v", e)
		w.do(e)
		if len(w.laws.wrong) > 0 {
			return
		}
	}
	w.converge()
}

func (w *crashes) logf(format string, args ...any) {
	w.logging.Lock()
	defer w.logging.Unlock()
	w.log = append(w.log, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// end ends the process, and waits until all that ever were have noticed.
func (w *crashes) end() {
	if w.life != nil && w.life.cancel != nil {
		w.life.mu.Lock()
		w.life.die()
		w.life.mu.Unlock()
	}
	w.lives.Wait()
	if err := w.people.Close(); err != nil {
		w.laws.broken("%v", err)
	}
}

// do takes a step of a history.
func (w *crashes) do(e crashEvent) {
	switch e.Do {
	case "push", "revert", "bad", "fewer":
		w.commit(e)
	case "click":
		for _, i := range e.Zones {
			w.click(i, e)
		}
	case "hold":
		w.hold(e)
	case "release":
		w.release(e.Zones...)
	case "crash":
		w.life.endsAfter(e.N/2, e.N%2 == 1)
	case "crash loop":
		w.life.endsAfter(e.N/2, e.N%2 == 1)
		w.doomed = []int{e.N % 7, e.N, e.N % 13}
	case "lose":
		w.faults.mu.Lock()
		w.faults.lost = 1 + e.N%4
		w.faults.mu.Unlock()
	case "approve":
		w.approve()
	case "resume":
		w.say(w.people.Roll(context.Background(), reconcile.Rollout.Resumed))
	case "pass":
		w.pass(e.For)
	default:
		w.disturb(e)
	}
	w.pass(min(e.For, 20*time.Second))
}

func (w *crashes) say(err error) {
	if err != nil {
		w.laws.broken("%v", err)
	}
}

// disturb has something go wrong for a while, at most two minutes.
func (w *crashes) disturb(e crashEvent) {
	until := time.Now().Add(min(e.For, 100*time.Second))
	w.faults.mu.Lock()
	w.faults.until, w.faults.status, w.faults.slow, w.faults.disk = until, 0, nil, false
	switch e.Do {
	case "down":
		w.faults.status = []int{http.StatusServiceUnavailable, http.StatusUnauthorized, http.StatusForbidden}[e.N%3]
	case "slow":
		w.faults.slow = map[string]bool{}
		for _, i := range e.Zones {
			w.faults.slow[mem.FleetZone(i).String()] = true
		}
	case "disk":
		w.faults.disk = true
	}
	w.faults.mu.Unlock()
	if e.Do == "ignore" {
		w.laws.mu.Lock()
		w.laws.unkept = true
		w.laws.mu.Unlock()
		w.say(w.server.SetQuirks([]string{"patch=ignored"}))
		defer func() { w.say(w.server.SetQuirks(nil)) }()
	}
	w.laws.mu.Lock()
	w.laws.blurred, w.laws.calm = true, until.Add(2*time.Minute) // by then the pauses that it causes are over
	w.laws.mu.Unlock()
	w.pass(time.Until(until))
}

// commit pushes what a step says.
func (w *crashes) commit(e crashEvent) {
	next, name := slices.Clone(w.zones), "c"
	switch e.Do {
	case "revert":
		next = slices.Clone(w.history[e.N%len(w.history)])
	case "bad":
		w.repo.Commit(fmt.Sprint("bad", len(w.log)), commit{Problems: []desired.Problem{{Message: "a mistake"}}})
		w.life.source.Poke()
		return
	case "fewer":
		next = slices.DeleteFunc(next, func(z zoneT) bool { return !keeps(z.Scope) && z.Scope == mem.FleetZone(e.Zones[0]) })
	default:
		for _, i := range e.Zones {
			for j := range next {
				if next[j].Scope == mem.FleetZone(i) {
					next[j].Deployments = []desired.Deployment{core(e.Git...)}
					if keeps(next[j].Scope) {
						next[j].Deployments[0] = keeping(next[j].Deployments[0])
					}
				}
			}
		}
	}
	w.push(name, next)
	w.life.source.Poke()
}

func (w *crashes) push(name string, zones []zoneT) {
	w.pushes++
	name += fmt.Sprint(w.pushes)
	w.zones, w.history = zones, append(w.history, zones)
	w.laws.mu.Lock()
	w.laws.commits[name] = stateOf(name, zones...)
	w.laws.mu.Unlock()
	w.repo.Push(name, zones...)
}

// click is what a person does in a dashboard: some of what git says is undone, and the
// person's own tags are as he likes.
func (w *crashes) click(i int, e crashEvent) {
	w.laws.mu.Lock()
	defer w.laws.mu.Unlock()
	id := mem.FleetZone(i)
	z := w.laws.zones[id]
	entry, err := w.server.Platform.EntryPoint(context.Background(), id, edge.PhaseFirewallManaged)
	if err != nil {
		w.laws.fault("%v", err)
		return
	}
	o := edge.Overrides{}
	for tag := range strings.SplitSeq(strings.Join(reconciletest.TagsOff(entry.Rules[0]), ","), ",") {
		if slices.Contains(gitTags, tag) && !slices.Contains(e.Git, tag) {
			o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
		}
	}
	for _, tag := range e.Hand {
		o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
	}
	entry.Rules[0].ActionParameters.Overrides = &o
	if err := w.server.Platform.SetEntryPoint(id, entry); err != nil {
		w.laws.fault("%v", err)
	}
	*z.happenings++
	z.clicked, z.hand = *z.happenings, e.Hand
	w.laws.blurred = true
}

func (w *crashes) hold(e crashEvent) {
	now := time.Now()
	until := now.Add(2 * e.For).Truncate(time.Second)
	for _, i := range e.Zones {
		w.say(w.people.Hold(context.Background(), diff.Hold{Zone: zoneKey(i), Until: until, Reason: "INC-1"}, "kim"))
	}
	w.laws.mu.Lock()
	defer w.laws.mu.Unlock()
	w.laws.blurred = true
	for _, i := range e.Zones {
		w.laws.zones[mem.FleetZone(i)].held = [2]time.Time{now, until}
	}
}

func (w *crashes) release(zones ...int) {
	w.laws.mu.Lock()
	for _, i := range zones {
		w.laws.zones[mem.FleetZone(i)].held = [2]time.Time{}
	}
	w.laws.mu.Unlock()
	for _, i := range zones {
		_, err := w.people.Release(context.Background(), zoneKey(i), time.Now())
		w.say(err)
	}
}

// approve agrees to each change that the process has told to wait for a person.
func (w *crashes) approve() {
	var words []reconcile.Approval
	w.laws.mu.Lock()
	w.laws.blurred = true
	for _, report := range w.life.journal.take() {
		for _, change := range report.Plan.Changes {
			if change.Refused == nil || change.Refused.Guard != diff.GuardLimit && change.Refused.Guard != diff.GuardApproval {
				continue
			}
			w.laws.zones[change.Scope].approved = true
			words = append(words, reconcile.Approval{Digest: change.ApprovalDigest(), Kind: reconcile.Approved, Who: "kim", At: time.Now()})
		}
	}
	w.laws.mu.Unlock()
	w.say(w.people.Approve(context.Background(), words))
}

// pass lets time pass, and begins a new process some seconds after one has ended.
func (w *crashes) pass(d time.Duration) {
	end := time.Now().Add(d)
	for left := d; left > 0; left = time.Until(end) {
		if w.life.isDead() {
			w.logf("the process has ended")
			time.Sleep(min(left, 3*time.Second))
			w.begin()
			continue
		}
		select {
		case <-time.After(min(left, 30*time.Second)):
		case <-w.life.died:
		}
		w.laws.unseen()
	}
	synctest.Wait()
}

// converge ends whatever is in the way, and has everything become what git says.
func (w *crashes) converge() {
	w.doomed = nil
	w.life.endsAfter(-1, false)
	w.push("c", w.zones)
	for i := range w.laws.zones {
		_, err := w.people.Release(context.Background(), "", time.Now())
		w.say(err)
		w.laws.mu.Lock()
		w.laws.zones[i].held = [2]time.Time{}
		w.laws.mu.Unlock()
	}
	all := make([]int, len(w.laws.zones))
	for i := range all {
		all[i] = i + 1
	}
	w.release(all...)
	w.logf("everything is to converge")
	for range 12 {
		w.pass(crashInterval)
		if len(w.differ()) == 0 || len(w.laws.wrong) > 0 {
			return
		}
		w.approve()
		w.say(w.people.Roll(context.Background(), reconcile.Rollout.Resumed))
	}
	for _, d := range w.differ() {
		w.laws.broken("in the end %s", d)
	}
}
