package worker

import (
	"sync"
	"time"
)

const (
	// beats is how many signs of life are missing in a row when a child counts as silent. They are
	// counted one by one: where this process was stopped itself, one is missing at most.
	beats = 10
	// awake is how long a process that was started ahead has to say that it has its order. What it
	// loads ahead is done by then, or another process is as soon ready.
	awake = 5 * time.Second
)

// pulse watches for a child's signs of life. The zero pulse watches for none.
type pulse struct {
	mu      sync.Mutex
	limit   time.Duration
	missing int
	on      bool
	timer   *time.Timer
	silent  func(limit time.Duration)
}

// begin watches, and calls silent once where nothing was heard for the limit.
func (p *pulse) begin(limit time.Duration, silent func(limit time.Duration)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.silent, p.on = limit, silent, true
	p.timer = time.AfterFunc(limit/beats, p.miss)
}

func (p *pulse) miss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return
	}
	if p.missing++; p.missing < beats {
		p.timer.Reset(p.limit / beats)
		return
	}
	go p.silent(p.limit)
}

// beat notes that something was heard. From now on the limit is this one.
func (p *pulse) beat(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.limit, p.missing, p.on = limit, 0, true
	p.timer.Reset(limit / beats)
}

// stop watches no more, until the next beat.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on = false; p.timer != nil {
		p.timer.Stop()
	}
}
