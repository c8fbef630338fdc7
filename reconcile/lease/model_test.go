package lease

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A story is what happens to one lease and some processes.
type story struct {
	Rates []float64 // how fast the clock of each process runs, by that of the database
	Takes []bool    // each second a process tries to get it
	Twins bool      // all processes have the same name
	Steps []step
}

// step is one thing that a process does.
type step struct {
	Kind  string
	Who   int
	After time.Duration // since the step before
	// There and Back are for how long a statement and its answer are on their way; Lost: there is
	// no answer. Of a pause, There is its length; of a request, how long it is at work.
	There, Back time.Duration
	Lost        bool
}

const processes = 3

// atWork is how much longer a server may be at work on a request that was cut.
const atWork = rest

func stories() *rapid.Generator[story] {
	short := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond})
	long := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 100 * time.Millisecond, time.Second, 2500 * time.Millisecond, 10 * time.Second, 13 * time.Second, 20 * time.Second})
	one := rapid.Custom(func(t *rapid.T) step {
		s := step{
			Kind: rapid.SampledFrom([]string{"take", "take", "renew", "renew", "request", "request", "write", "end", "pause", "crash"}).Draw(t, "kind"),
			Who:  rapid.IntRange(0, processes-1).Draw(t, "who"),
			After: rapid.SampledFrom([]time.Duration{
				0, 0, time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 10 * time.Second, 11 * time.Second,
			}).Draw(t, "after"),
			There: short.Draw(t, "there"), Back: short.Draw(t, "back"),
		}
		if rapid.IntRange(0, 3).Draw(t, "slow") == 0 {
			s.There, s.Back, s.Lost = long.Draw(t, "there"), long.Draw(t, "back"), rapid.IntRange(0, 3).Draw(t, "lost") == 0
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) story {
		return story{
			Rates: rapid.SliceOfN(rapid.Float64Range(0.92, 1.08), processes, processes).Draw(t, "rates"),
			Takes: rapid.SliceOfN(rapid.Bool(), processes, processes).Draw(t, "takes"),
			Twins: rapid.Bool().Draw(t, "twins"),
			Steps: rapid.SliceOfN(one, 1, 50).Draw(t, "steps"),
		}
	})
}

// process is one of them.
type process struct {
	name    string
	rate    float64
	stopped time.Duration // for how long its clock has not run
	own     *owned        // nil: nothing
	asked   bool          // it waits for an answer
	until   time.Duration // a pause ends
	born    int           // one more with each crash
}

// world is what a story is played in. Its time is that of the database.
type world struct {
	rules
	now    time.Duration
	row    Row
	all    []*process
	events events
	order  int
	reach  int64 // the highest epoch under which a process has had it
	broken error
}

func (w *world) time() time.Time { return time.Unix(0, 0).Add(w.now) }

// clock is what a process's clock shows.
func (w *world) clock(p *process) time.Duration {
	return time.Duration(float64(w.now-p.stopped)*p.rate) + time.Hour
}

// in has something happen after a while.
func (w *world) in(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.events, event{w.now + d, w.order, do})
}

// pass has time pass, and what is due in it happen.
func (w *world) pass(d time.Duration) {
	end := w.now + d
	for len(w.events) > 0 && w.events[0].at <= end {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
		w.check()
	}
	w.now = end
	w.check()
}

func (w *world) fail(format string, args ...any) {
	if w.broken == nil {
		w.broken = fmt.Errorf("after %v: %s", w.now, fmt.Sprintf(format, args...))
	}
}

// check: at no time do two processes have the lease.
func (w *world) check() {
	var has []int64
	for _, p := range w.all {
		if p.own != nil && p.own.left(w.clock(p)) > 0 {
			has = append(has, p.own.epoch)
		}
	}
	if len(has) > 1 {
		w.fail("processes have it at once, under the epochs %v", has)
	}
}

// play plays a story by rules, and returns the law that was broken.
func play(s story, by rules) error {
	w := &world{rules: by, row: Row{GivenUp: true}}
	for i, rate := range s.Rates {
		p := &process{name: fmt.Sprint(i), rate: rate}
		if s.Twins {
			p.name = "twin"
		}
		w.all = append(w.all, p)
		if s.Takes[i] {
			w.in(0, func() { w.keepTaking(p) })
		}
	}
	for _, step := range s.Steps {
		w.pass(step.After)
		p := w.all[step.Who]
		if w.now >= p.until {
			w.step(p, step)
		}
	}
	w.pass(time.Minute)
	return w.broken
}

func (w *world) keepTaking(p *process) {
	if w.now >= p.until {
		w.step(p, step{Kind: "take"})
	}
	w.in(time.Second, func() { w.keepTaking(p) })
}

func (w *world) step(p *process, s step) {
	now := w.clock(p)
	if p.own != nil && now >= p.own.until {
		p.own = nil
	}
	switch s.Kind {
	case "crash":
		p.own, p.asked, p.born = nil, false, p.born+1
	case "pause":
		p.until = w.now + s.There + s.Back
		if w.clockStops {
			p.stopped += s.There + s.Back
		}
	case "take":
		if p.own == nil {
			w.ask(p, s, func() (int64, bool) {
				row, ok := w.take(w.row, w.time(), p.name)
				w.row = row
				return row.Epoch, ok
			}, func(epoch int64, sent time.Duration) {
				p.own, w.reach = &owned{epoch: epoch, until: sent + lasts}, max(w.reach, epoch)
			})
		}
	case "renew":
		if own := p.own; own != nil && !own.given {
			w.ask(p, s, func() (int64, bool) {
				row, ok := w.renew(w.row, w.time(), p.name, own.epoch)
				w.row = row
				return own.epoch, ok
			}, func(_ int64, sent time.Duration) { own.until = sent + lasts })
		}
	case "end":
		if p.own != nil {
			p.own.ending = true
		}
		w.giveBack(p, s)
	case "request":
		if p.own != nil && p.own.held(now) {
			w.request(p, s)
		}
	case "write":
		if p.own != nil && p.own.held(now) {
			epoch := p.own.epoch
			w.in(s.There, func() {
				if w.write(w.row, epoch) && epoch < w.row.Epoch {
					w.fail("a write under the epoch %d was put on record after %d was seen", epoch, w.row.Epoch)
				}
			})
		}
	}
}

// ask sends a statement, unless the process waits for one. An answer that takes too long is lost,
// and the lease is not what the process thinks it is where the statement did nothing.
func (w *world) ask(p *process, s step, statement func() (int64, bool), worked func(epoch int64, sent time.Duration)) {
	if p.asked {
		return
	}
	p.asked = true
	sent, began, born := w.clock(p), w.now, p.born
	var epoch int64
	var ok, answered bool
	w.in(s.There, func() { epoch, ok = statement(); answered = true })
	var heard func()
	heard = func() {
		if w.now < p.until && p.born == born { // it hears the answer after its pause
			w.in(p.until-w.now, heard)
			return
		}
		if p.born != born {
			return
		}
		p.asked = false
		if w.fromAnswer {
			sent = w.clock(p)
		}
		switch {
		case !answered || s.Lost || began+answerWithin < w.now && p.until <= began: // cut
		case ok:
			worked(epoch, sent)
		default:
			p.own = nil
		}
	}
	w.in(min(s.There+s.Back, answerWithin), heard)
}

// giveBack gives the lease up, once it may be.
func (w *world) giveBack(p *process, s step) {
	own := p.own
	if own == nil || p.asked || !own.ending {
		return
	}
	mayBe := own.give(w.clock(p))
	if w.noQuiet && own.begun == 0 {
		own.given, mayBe = true, true
	}
	if mayBe {
		w.in(s.There, func() { w.row, _ = w.giveUp(w.row, w.time(), p.name, own.epoch) })
	}
}

// request sends one to the platform. The process ends it before the lease is over, if it does not
// stand still; the platform is done with it soon after, whatever the process does.
func (w *world) request(p *process, s step) {
	own := p.own
	own.begun++
	left := time.Duration(float64(own.left(w.clock(p)))/p.rate) + time.Microsecond // after rounding
	works := min(s.There+s.Back, left+atWork)
	w.in(works, func() {
		if own.epoch < w.reach {
			w.fail("the platform did what it was sent under the epoch %d, after a process had it under %d", own.epoch, w.reach)
		}
	})
	w.in(min(works, left), func() {
		if works > left {
			own.cut(w.clock(p))
		}
		own.begun--
	})
}

// TestLaws: whatever happens, one process at a time has the lease, no write is put on record under a
// lower epoch than one that was seen, and the platform does nothing under it once another has had the
// lease.
func TestLaws(t *testing.T) {
	all := stories()
	for i := range 4000 {
		if err := play(all.Example(i), rules{}); err != nil {
			t.Fatalf("story %d: %v", i, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := play(stories().Draw(t, "story"), rules{}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestEachRuleIsNeeded: without any one of the rules a law is broken.
func TestEachRuleIsNeeded(t *testing.T) {
	all := stories()
	for name, without := range map[string]rules{
		"the wait for what is at work":             {noRest: true},
		"the epoch in renewing and giving up":      {noEpoch: true},
		"the epoch in a write":                     {noFence: true},
		"counting from before the statement":       {fromAnswer: true},
		"a clock that runs on":                     {clockStops: true},
		"the wait of a holder for what it has cut": {noQuiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 20_000
			for i := range most {
				if err := play(all.Example(i), without); err != nil {
					t.Logf("story %d: %v", i, err)
					return
				}
			}
			t.Errorf("no law is broken in %d stories", most)
		})
	}
}

// events are a heap of what is to happen.
type events []event

type event struct {
	at    time.Duration
	order int
	do    func()
}

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
