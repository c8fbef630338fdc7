package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// disk is an outbox that survives its processes, and fails when it is told to.
type disk struct {
	routes map[string]reconcile.Kept
	fails  bool
}

var errDisk = errors.New("the disk is full")

func (d *disk) Notified(context.Context) (map[string]reconcile.Kept, error) {
	if d.fails {
		return nil, errDisk
	}
	all := map[string]reconcile.Kept{}
	for name, k := range d.routes {
		all[name] = reconcile.Kept{Known: slices.Clone(k.Known), Parts: maps.Clone(k.Parts), Messages: slices.Clone(k.Messages)}
	}
	return all, nil
}

func (d *disk) Post(_ context.Context, route, part string, known json.RawMessage, messages []reconcile.Posted) error {
	if d.fails {
		return errDisk
	}
	k := d.routes[route]
	if part == "" {
		k.Known = known
	} else {
		parts := map[string]json.RawMessage{}
		maps.Copy(parts, k.Parts)
		if parts[part] = known; known == nil {
			delete(parts, part)
		}
		k.Parts = parts
	}
	for _, m := range messages {
		if !slices.ContainsFunc(k.Messages, func(have reconcile.Posted) bool { return have.ID == m.ID }) {
			k.Messages = append(k.Messages, m)
		}
	}
	d.routes[route] = k
	return nil
}

func (d *disk) Posted(_ context.Context, id string) error {
	if d.fails {
		return errDisk
	}
	for name, k := range d.routes {
		k.Messages = slices.DeleteFunc(slices.Clone(k.Messages), func(m reconcile.Posted) bool { return m.ID == id })
		d.routes[name] = k
	}
	return nil
}

func (d *disk) ForgetRoute(_ context.Context, route string) error {
	delete(d.routes, route)
	return nil
}

// inbox is the other side: it takes a message, and may fail before or after that.
type inbox struct {
	fails, cut bool
	got        []Message
}

func (i *inbox) Send(_ context.Context, m Message) error {
	if i.fails {
		return errors.New("not there")
	}
	i.got = append(i.got, m)
	if i.cut {
		return errors.New("the connection was cut")
	}
	return nil
}

// world is a daemon that is killed and started, what is wrong in it, and a route.
type world struct {
	now   time.Time
	began time.Time
	wrong map[string]time.Time // by key, since when
	disk  *disk
	inbox *inbox
	route *delivery
}

func (w *world) start(t interface{ Fatal(...any) }) {
	w.began = w.now
	s := New(Config{
		Outbox: w.disk, Log: slog.New(slog.DiscardHandler), Count: func(string) {}, Failed: func(string, error) {}, Worked: func(string) {},
		Routes: []Route{{Name: "ops", Least: Warning, Sender: w.inbox}},
	})
	if err := s.read(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.route = s.routes[0]
}

// status is that of a daemon which has read everything.
func (w *world) status() inspect.Status {
	return inspect.Status{
		At: w.now, Started: w.began, Source: inspect.Source{LastSuccess: w.now},
		Zones:  inspect.Zones{Declared: 3, Observed: w.now, Outcomes: map[inspect.Outcome]int{}},
		Tokens: inspect.Tokens{LookedAt: w.now},
	}
}

func (w *world) causes() (all []Cause) {
	for _, key := range slices.Sorted(maps.Keys(w.wrong)) {
		about := AboutOutage
		if key[0] == 'z' {
			about = AboutZones
		}
		all = append(all, Cause{Key: key, About: about, Severity: Warning, Title: key, Since: w.wrong[key]})
	}
	return all
}

// TestLaws: over any sequence of things that break and work again, kills, failures of the
// other side and of the disk: what a route gets of a cause is a beginning, its end, the next
// beginning and so on, each with one id however often it comes; and once everything works it
// knows exactly what is wrong.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), wrong: map[string]time.Time{}, disk: &disk{routes: map[string]reconcile.Kept{}}, inbox: &inbox{},
		}
		w.start(t)
		lossy := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"wrong", "right", "time", "look", "look", "send", "send", "kill", "away", "cut", "disk"}).Draw(t, "step") {
			case "wrong":
				key := rapid.SampledFrom([]string{"outage/git/", "outage/zone/x", "zones/refused/limit", "zones/blocked/plan"}).Draw(t, "key")
				if _, ok := w.wrong[key]; !ok {
					w.wrong[key] = w.now
				}
			case "right":
				if len(w.wrong) > 0 {
					delete(w.wrong, rapid.SampledFrom(slices.Sorted(maps.Keys(w.wrong))).Draw(t, "key"))
				}
			case "time":
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			case "look":
				w.now = w.now.Add(every)
				w.route.learn(context.Background(), w.status(), w.causes())
			case "send":
				if m, ok := w.route.first(); ok {
					w.route.try(context.Background(), m)
				}
			case "kill": // what the disk did not keep is lost, which the warning says
				lossy = lossy || w.disk.fails || w.route.behind
				w.disk.fails = false
				w.start(t)
			case "away":
				w.inbox.fails = !w.inbox.fails
			case "cut":
				w.inbox.cut = !w.inbox.cut
			case "disk":
				w.disk.fails = !w.disk.fails
			}
		}
		w.settle()
		w.check(t, lossy)
	})
}

// settle has everything work, and time pass.
func (w *world) settle() {
	w.inbox.fails, w.inbox.cut, w.disk.fails = false, false, false
	for range 200 {
		w.now = w.now.Add(every)
		w.route.learn(context.Background(), w.status(), w.causes())
		for m, ok := w.route.first(); ok && w.route.try(context.Background(), m); m, ok = w.route.first() {
		}
	}
}

func (w *world) check(t *rapid.T, lossy bool) {
	seen, last := map[string]string{}, map[string]Message{}
	for _, m := range w.inbox.got {
		what := fmt.Sprint(m.Cause, m.State, m.Since)
		if before, again := seen[m.ID]; again {
			if before != what {
				t.Fatalf("id %s is of %s and of %s", m.ID, before, what)
			}
			continue
		}
		seen[m.ID] = what
		before, known := last[m.Cause]
		if !known && m.State != Begins || known && before.State == m.State {
			if !lossy {
				t.Fatalf("%s %s after %+v", m.Cause, m.State, before)
			}
		}
		last[m.Cause] = m
	}
	for key := range w.wrong {
		if last[key].State != Begins && !lossy {
			t.Fatalf("%s is wrong, and the last that was said is %q", key, last[key].State)
		}
	}
	for key, m := range last {
		if _, wrong := w.wrong[key]; !wrong && m.State != Ends && !lossy {
			t.Fatalf("%s works, and the last that was said is %q", key, m.State)
		}
	}
}
