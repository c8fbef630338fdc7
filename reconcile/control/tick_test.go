package control

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// meanwhile are records that call back while a rollout is being recorded.
type meanwhile struct {
	reconcile.Forgetful
	rolling func()
}

func (m *meanwhile) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	if m.rolling == nil {
		return m.Forgetful.Roll(ctx, change)
	}
	var workers sync.WaitGroup
	workers.Go(m.rolling)
	err := m.Forgetful.Roll(ctx, change)
	workers.Wait()
	return err
}

// What workers note while a tick records the outcomes before it is neither lost nor read
// by the tick: the race detector sees to the latter.
func TestOutcomesNotedDuringATick(t *testing.T) {
	records := &meanwhile{}
	waves := []reconcile.Wave{{Count: 2}}
	c, err := New(t.Context(), Config{Records: records, Guards: reconcile.Guards{Waves: waves}, Now: time.Now})
	must.Do(t, err)
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: fleetOf("c", map[string][]string{"a": {"waf"}, "b": {"waf"}, "c": {"waf"}})}); err != nil {
		t.Fatal(err)
	}
	note := func(id edge.Scope) {
		task, _ := c.Task(c.Current(), id)
		if _, err := c.Note(t.Context(), Outcome{Scope: id, Fingerprint: task.Fingerprint}); err != nil {
			t.Error(err)
		}
	}
	note(edge.ZoneScope("a"))
	records.rolling = func() { note(edge.ZoneScope("b")) }
	if _, err := c.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	records.rolling = nil
	ticked, err := c.Tick(t.Context())
	must.Do(t, err)
	if r := c.Rollout(); r == nil || r.Open != 2 {
		t.Errorf("after a and b are done: got %+v, released %v; want wave 2 to be open", r, ticked.Released)
	}
}

// beside are records into which a command has written.
type beside struct {
	reconcile.Forgetful
	newest int64
	zones  map[int64]edge.Scope // by the number of the result
}

func (b *beside) Standing(ctx context.Context) (reconcile.Standing, error) {
	s, err := b.Forgetful.Standing(ctx)
	s.Newest = b.newest
	return s, err
}

func (b *beside) WrittenByCommands(_ context.Context, after int64) (zones []edge.Scope, _ error) {
	for number, zone := range b.zones {
		if number > after {
			zones = append(zones, zone)
		}
	}
	return zones, nil
}

// A zone that apply or revert has written is read at once: what is known of it is old.
func TestWhatCommandsWriteIsRead(t *testing.T) {
	records := &beside{newest: 5, zones: map[int64]edge.Scope{3: edge.ZoneScope("b")}}
	c, err := New(t.Context(), Config{Records: records, Now: time.Now})
	must.Do(t, err)
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: fleetOf("c", map[string][]string{"a": {"waf"}, "b": {"waf"}})}); err != nil {
		t.Fatal(err)
	}
	tick := func(want ...edge.Scope) {
		t.Helper()
		ticked, err := c.Tick(t.Context())
		if err != nil || !slices.Equal(ticked.Released, want) {
			t.Errorf("released %v, %v; want %v", ticked.Released, err, want)
		}
	}
	tick() // what was written before the start is read anyway
	tick()
	records.newest, records.zones[7], records.zones[8] = 8, edge.ZoneScope("a"), edge.ZoneScope("gone")
	tick(edge.ZoneScope("a"))
	tick()
}

// listened counts how often it is read what was said.
type listened struct {
	reconcile.Forgetful
	reads int
}

func (l *listened) Standing(ctx context.Context) (reconcile.Standing, error) {
	l.reads++
	standing, err := l.Forgetful.Standing(ctx)
	standing.Said = 1
	return standing, err
}

// A tick reads what is on record where a look has shown something else, or cannot be had, and where
// people have said something in this process.
func TestATickReadsWhatIsNews(t *testing.T) {
	records, news, answers := &listened{}, reconcile.News{Said: 1}, true
	c, err := New(t.Context(), Config{Records: records, Now: time.Now, News: func() (reconcile.News, bool) { return news, answers }})
	must.Do(t, err)
	reads := func() int {
		t.Helper()
		before := records.reads
		_, err := c.Tick(t.Context())
		must.Do(t, err)
		return records.reads - before
	}
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"the first tick", func() {}, 1},
		{"nothing is new", func() {}, 0},
		{"something was said", func() { news.Said++ }, 1},
		{"something counts for limits", func() { news.Counted++ }, 1},
		{"nothing is new again", func() {}, 0},
		{"a person has said something here", c.Heed, 1},
		{"the database does not answer", func() { answers = false }, 1},
	} {
		step.do()
		if got := reads(); got != step.want {
			t.Errorf("%s: read %d times, want %d", step.what, got, step.want)
		}
	}
}
