package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// point is one that each push passes, in the order of time.
type point int

const (
	told     point = iota // the webhook
	asked                 // git gets the first request
	answered              // git has answered the last one
	evaluated
	accepted
	looked  // the platform gets the request to read the zone
	written // the platform gets the write
	proved
	points
)

// stages are what goes on from each point to the next.
var stages = [proved]string{"until git is asked", "fetch", "evaluate", "accept", "queue", "read and plan", "write and prove"}

// logged are the lines of the log that tell of a point.
var logged = map[string]point{"folders of desired state": evaluated, "commit accepted": accepted}

// trail notes what happens to the newest push. It is safe for concurrent use.
type trail struct {
	mu    sync.Mutex
	zone  zone
	notes [points][]time.Time
}

// begin forgets the push before, and notes that the daemon is told of the next one.
func (t *trail) begin(z zone, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.zone, t.notes = z, [points][]time.Time{told: {now}}
}

func (t *trail) note(m point, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes[m] = append(t.notes[m], at)
}

// noteZone notes something that happens to the zone of the push, or nothing of another zone.
func (t *trail) noteZone(m point, z zone, at time.Time) {
	if t.of() == z {
		t.note(m, at)
	}
}

func (t *trail) of() zone {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.zone
}

// git notes requests to git that pass.
func (t *trail) git(next http.Handler, w http.ResponseWriter, r *http.Request) {
	t.note(asked, time.Now())
	next.ServeHTTP(w, r)
	t.note(answered, time.Now())
}

// passage is how long one push took, as a whole and in each stage.
type passage struct {
	whole  time.Duration
	stages [proved]time.Duration
}

// end is the passage of the newest push, which was proved at a time. Each point is the first of its
// kind after the one before; only git may be asked several times. One that was not seen takes no time.
func (t *trail) end(at time.Time) (p passage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes[proved] = []time.Time{at}
	last := t.notes[told][0]
	p.whole = at.Sub(last)
	for m := asked; m <= proved; m++ {
		seen := t.after(m, last)
		if m == answered {
			if next := t.after(evaluated, seen); !next.Equal(seen) {
				seen = t.lastBefore(answered, seen, next)
			}
		}
		p.stages[m-1] = seen.Sub(last)
		last = seen
	}
	return p
}

// after is the first of the times at a point that is not before another one; that one where there is none.
func (t *trail) after(m point, last time.Time) time.Time {
	for _, at := range t.notes[m] {
		if !at.Before(last) {
			return at
		}
	}
	return last
}

// lastBefore is the last of the times at a point before a time, or else another one.
func (t *trail) lastBefore(m point, otherwise, before time.Time) time.Time {
	for _, at := range t.notes[m] {
		if at.Before(before) && at.After(otherwise) {
			otherwise = at
		}
	}
	return otherwise
}

// slowest is how many pushes the report shows.
const slowest = 5

// stageTable renders what the push in the middle waits for, and what the slowest ones wait for.
func stageTable(all []passage) string {
	if len(all) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\n| push to proof, ms | whole |")
	for _, name := range stages {
		fmt.Fprintf(&text, " %s |", name)
	}
	text.WriteString("\n|" + strings.Repeat(" --- |", len(stages)+2) + "\n")
	row := func(name string, p passage) {
		fmt.Fprintf(&text, "| %s | %d |", name, p.whole.Milliseconds())
		for _, d := range p.stages {
			fmt.Fprintf(&text, " %d |", d.Milliseconds())
		}
		text.WriteString("\n")
	}
	row("median of each", medians(all))
	for i, p := range slices.SortedFunc(slices.Values(all), func(a, b passage) int { return int(b.whole - a.whole) })[:min(slowest, len(all))] {
		row(fmt.Sprintf("slowest %d", i+1), p)
	}
	return text.String()
}

// medians are those of the whole and of each stage, each for itself.
func medians(all []passage) (p passage) {
	middle := func(of func(passage) time.Duration) time.Duration {
		var s sample
		for _, one := range all {
			s.add(of(one))
		}
		took, _ := s.quantile(0.5)
		return took
	}
	p.whole = middle(func(p passage) time.Duration { return p.whole })
	for i := range p.stages {
		p.stages[i] = middle(func(p passage) time.Duration { return p.stages[i] })
	}
	return p
}
