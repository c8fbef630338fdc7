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
