package cli

import (
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/client"
)

// Quota is a budget as a run sees it: how many requests it admits in which time, and
// what counts them. The zero value is that of stages that send none.
type Quota struct {
	diff.Budget
	Meter Meter
}

// Meter counts the requests of a budget.
type Meter interface {
	Room(urgent int) int
	Forecast() client.Forecast
	State() client.BudgetState
}

// Follow returns a function that shows how far a stage is, on a terminal that can wipe a
// line, and one that wipes it. Of stages that send requests it says how long they will last.
// The line is kept up to date while the budget makes everything wait.
func (t *Terminal) Follow(q Quota) (show func(stage string, done, total int), wipe func()) {
	if t.screen == nil || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	var mu sync.Mutex
	var s phase
	draw := func() {
		mu.Lock()
		defer mu.Unlock()
		if line := s.line(time.Now(), q); line != "" {
			t.screen.show(line)
		}
	}
	ended := make(chan struct{})
	go everySecond(ended, draw)
	show = func(name string, done, total int) {
		mu.Lock()
		drawn := s.drawn
		s.reach(time.Now(), name, done, total)
		mu.Unlock()
		if done == total || time.Since(drawn) > redrawAfter {
			draw()
		}
	}
	end := sync.OnceFunc(func() { close(ended) })
	return show, func() {
		end()
		mu.Lock()
		defer mu.Unlock()
		s = phase{}
		t.screen.show("")
	}
}

// redrawAfter bounds how often the line is drawn.
const redrawAfter = 100 * time.Millisecond

func everySecond(ended <-chan struct{}, do func()) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ended:
			return
		}
	}
}

// phase is how far one stage of a run is, and how fast it went while the budget did
// not hold it back.
type phase struct {
	name        string
	done, total int
	seen        time.Time     // when the line was drawn last or something was done
	busy        time.Duration // without the waits for the budget
	waiting     bool          // the budget was used up then
	drawn       time.Time
}

// reach notes progress.
func (s *phase) reach(now time.Time, name string, done, total int) {
	if name != s.name {
		*s = phase{name: name, seen: now}
	}
	s.done, s.total = done, total
	s.pass(now)
}

func (s *phase) pass(now time.Time) {
	if !s.waiting {
		s.busy += now.Sub(s.seen)
	}
	s.seen = now
}

// requestsOf is how many requests one item of a stage takes: a change is written and
// read back.
func requestsOf(stage string) int {
	if stage == stageApplying {
		return 2
	}
	return 1
}

// stageApplying is the stage of a run that writes.
const stageApplying = "applying changes"

// line is the phase for a person who waits.
func (s *phase) line(now time.Time, q Quota) string {
	if s.name == "" {
		return ""
	}
	s.pass(now)
	s.drawn = now
	text := s.name
	if s.total > 0 {
		text += fmt.Sprintf(" %d/%d", s.done, s.total)
	}
	if s.total > 0 && s.done >= s.total || q.Meter == nil {
		return text
	}
	left := q.Meter.Forecast()
	s.waiting = left.Left == 0
	if s.total <= 0 {
		return text + q.wait(left)
	}
	per := requestsOf(s.name)
	speed := 0.0
	if s.busy > 0 {
		speed = float64(s.done*per) / s.busy.Seconds()
	}
	if speed > 0 {
		text += fmt.Sprintf(", %s requests a second", rounded(speed))
	}
	if text += q.wait(left); !s.waiting {
		text += fmt.Sprintf(", %d of %d requests left", left.Left, q.Requests)
	}
	if rest, ok := remaining((s.total-s.done)*per, speed, left, q.Budget); ok {
		text += ", about " + briefly(rest) + " to go"
	}
	return text
}

// wait says for how long requests wait for the budget; empty where there are some left.
func (q Quota) wait(left client.Forecast) string {
	switch {
	case left.Left > 0:
		return ""
	case left.Next <= 0:
		return ", waiting for the request budget"
	case left.Kept:
		return fmt.Sprintf(", the rest of the budget of %s is kept for more urgent requests, for about %s", q.Budget, briefly(left.Next))
	}
	return fmt.Sprintf(", the budget of %s is used up for %s", q.Budget, briefly(left.Next))
}

func rounded(speed float64) string {
	if speed < 10 {
		return fmt.Sprintf("%.1f", speed)
	}
	return fmt.Sprintf("%.0f", speed)
}

// remaining estimates how long n requests take: at speed (a second) as far as the budget
// goes, and beyond that no faster than it comes free. It is false where the speed is not
// known yet.
func remaining(n int, speed float64, left client.Forecast, b diff.Budget) (time.Duration, bool) {
	if speed <= 0 {
		return 0, false
	}
	at := func(n int) time.Duration { return time.Duration(float64(n) / speed * float64(time.Second)) }
	over := n - left.Left
	if over <= 0 || b.Requests <= 0 {
		return at(n), true
	}
	windows := (over - 1) / b.Requests // that pass as a whole behind the next
	return max(at(n), left.Next+time.Duration(windows)*b.Per+at(over-windows*b.Requests)), true
}

// briefly is a length of time to two digits: "40s", "4m10s", "2h5m".
func briefly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(math.Ceil(d.Seconds())))
	case d < time.Hour:
		d = d.Round(10 * time.Second)
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}
