package review

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
)

// line is what waits to be told, in its order. The lock of [Merges] guards it.
type line struct {
	poked reconcile.Pokes // there is something
	queue []merged
}

// mostStatuses bounds how many wait; the oldest go.
const mostStatuses = 100

func newLine() line { return line{poked: reconcile.NewPokes()} }

func (l *line) add(next merged) {
	l.queue = append(l.queue, next)
	l.queue = l.queue[max(0, len(l.queue)-mostStatuses):]
	l.poked.Poke()
}

// Run tells what is to be told until ctx ends, what is of one commit in order. What is not taken is
// tried again after what is of other commits, and is reported once.
func (m *Merges) Run(ctx context.Context) {
	var both sync.WaitGroup
	defer both.Wait()
	if m.parts != nil {
		both.Go(func() { m.run(ctx, &m.notes, m.note) })
	}
	m.run(ctx, &m.statuses, m.sendStatus)
}

func (m *Merges) run(ctx context.Context, l *line, send func(context.Context, merged) error) {
	for {
		next, ok := m.next(l)
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-l.poked:
			}
			continue
		}
		if err := send(ctx, next); err != nil {
			if ctx.Err() != nil {
				return
			}
			m.log.DebugContext(ctx, "a commit status could not be set; Seawall tries again", "commit", next.commit, "state", string(next.status.State), "error", err.Error())
			m.postpone(l, next.commit)
			select {
			case <-ctx.Done():
				return
			case <-time.After(retry.Status.First):
			}
			continue
		}
		m.done(l, next)
	}
}

// sendStatus tells the forge. What waited while this process led is dropped once it does not: another one
// has told what is newer.
func (m *Merges) sendStatus(ctx context.Context, next merged) error {
	if !m.parts.leads() {
		return nil
	}
	err := m.send(ctx, next.commit, next.status)
	switch {
	case err == nil:
		m.outages.Worked(reconcile.OutageForge, "", "statuses")
	case ctx.Err() == nil:
		m.outages.Failed(reconcile.OutageForge, "", "statuses", err)
	}
	return err
}

func (m *Merges) next(l *line) (merged, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(l.queue) == 0 {
		return merged{}, false
	}
	return l.queue[0], true
}

// postpone moves what waits for one commit behind all others: a forge that will
// never take it (it may not know the commit) must not keep those from being told.
func (m *Merges) postpone(l *line, commit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortStableFunc(l.queue, func(a, b merged) int {
		switch {
		case a.commit != commit && b.commit == commit:
			return -1
		case a.commit == commit && b.commit != commit:
			return 1
		}
		return 0
	})
}

func (m *Merges) done(l *line, sent merged) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(l.queue) > 0 && l.queue[0] == sent {
		l.queue = l.queue[1:]
	}
}
