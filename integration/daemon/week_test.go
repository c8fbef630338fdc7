package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// weekLog counts the lines of a log by message, and keeps those about outages.
type weekLog struct {
	mu      sync.Mutex
	lines   map[string]int
	alarms  int // warnings and errors
	outages []string
	bytes   int
}

func (w *weekLog) Write(data []byte) (int, error) {
	var line struct{ Level, Msg, Subject, Name, Cause string }
	if err := json.Unmarshal(data, &line); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[line.Msg]++
	w.bytes += len(data)
	if line.Level != "INFO" {
		w.alarms++
	}
	if line.Subject != "" {
		w.outages = append(w.outages, line.Msg+": "+line.Subject+" "+line.Name+" "+line.Cause)
	}
	return len(data), nil
}

// broken is a transport and a source of git that fail while they are told to.
type broken struct {
	http.RoundTripper
	*shelf

	mu       sync.Mutex
	platform func(*http.Request) bool // reports whether a request has no answer
	git      bool
	port     int
}

func (b *broken) set(platform func(*http.Request) bool, git bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.platform, b.git = platform, git
}

// RoundTrip fails as a connection does: with another port each time.
func (b *broken) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	fails := b.platform != nil && b.platform(r)
	b.port++
	port := b.port
	b.mu.Unlock()
	if fails {
		time.Sleep(dayLatency)
		return nil, errors.New("read tcp 10.0.0.1:" + itoa(30000+port%30000) + "->10.0.0.2:443: read: connection reset by peer")
	}
	return b.RoundTripper.RoundTrip(r)
}

func (b *broken) Fetch(ctx context.Context) (string, error) {
	b.mu.Lock()
	fails := b.git
	b.port++
	port := b.port
	b.mu.Unlock()
	if fails {
		return "", errors.New("dial tcp 10.0.0.3:22 from port " + itoa(30000+port%30000) + ": i/o timeout")
	}
	return b.shelf.Fetch(ctx)
}

func itoa(n int) string { data, _ := json.Marshal(n); return string(data) }

// weekZone is the one that fails by itself, and that each commit changes.
const weekZone = 7

// week is a daemon whose log is counted.
type week struct {
	*dayWorld
	broken  *broken
	log     *weekLog
	tracker *outage.Tracker
	ledger  string // its file
}

func newWeek(t *testing.T, zones int) *week {
	w := &week{dayWorld: newDay(t, zones, 1200), log: &weekLog{lines: map[string]int{}}}
	w.ledger = filepath.Join(t.TempDir(), "ledger.db")
	w.broken = &broken{RoundTripper: w.dayPlatform, shelf: w.shelf}
	w.transport(w.broken)
	return w
}

// weekHistory bounds the history of a week to less than what it writes.
var weekHistory = history.Bounds{Keep: 24 * time.Hour}

// weekRecords are a ledger without the place of the sweep, which would wait for the disk
// once in each minute of the week and has tests of its own.
type weekRecords struct{ *ledger.Ledger }

func (weekRecords) Swept(context.Context, time.Time) error { return nil }

// run is one life of the daemon, with its log and its ledger.
func (w *week) run(ctx context.Context) (wait func()) {
	records, err := ledger.Open(w.ledger)
	must.Do(w.t, err)
	records.Now, records.Keep = time.Now, weekHistory
	w.memory = weekRecords{records}
	log := slog.New(slog.NewJSONHandler(w.log, nil))
	w.tracker = outage.New(outage.Config{Now: time.Now, Tell: outage.Log(log)})
	w.git = source.New(source.Config{Source: w.broken, Compiler: w.shelf, Schedule: cron.Every(time.Minute), Now: time.Now})
	heart, err := controller.New(ctx, controller.Config{
		Source: w.git, Good: w.shelf, Records: w.memory, Requests: w.platform.Requests,
		Lanes: reconcile.OneLane(reconcile.Lane{
			Reader: w.platform, Writer: w.platform, Concurrency: 16, Room: w.budget.Room, Budget: diff.Budget{Requests: w.requests, Per: dayPer},
		}),
		Sweep: cron.Every(dayInterval), Interval: dayInterval, Tick: 10 * time.Second, Reporters: []reconcile.Reporter{&reconcile.Logger{Log: log}},
		Telling: controller.Telling{Log: log, Outages: w.tracker},
	})
	must.Do(w.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		heart.Run(ctx)
	}()
	return func() {
		<-done
		if err := records.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// TestWeekInTheLog: a week of drift, pushes, restarts and outages writes a line for each
// write, two for each outage however many zones and tries, and one for each commit and each
// turn of the sweep. Unless it soaks it is some days.
func TestWeekInTheLog(t *testing.T) {
	t.Parallel()
	zones, days := 100, 2
	if soak.On {
		zones, days = 200, 7
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWeek(t, zones)
		chance := rand.New(rand.NewPCG(3, 4))
		ctx, stop := context.WithCancel(t.Context())
		wait := w.run(ctx)
		begun, drifts, commits, restarts := 0, 0, 1, 0
		time.Sleep(10 * time.Minute)
		all := func(*http.Request) bool { return true }
		one := func(r *http.Request) bool {
			return strings.Contains(r.URL.Path, "/zones/"+mem.FleetZone(weekZone).String()+"/")
		}
		for range days {
			for _, fault := range []struct {
				platform func(*http.Request) bool
				git      bool
			}{{}, {all, false}, {nil, true}, {}, {one, false}, {all, true}} {
				for range 2 {
					drifts++
					w.vandalise(chance.IntN(zones))
				}
				w.broken.set(fault.platform, fault.git)
				w.shelf.push(append(chance.Perm(zones)[:1+chance.IntN(10)], weekZone-1))
				commits++
				for _, fails := range []bool{fault.platform != nil, fault.git} {
					if fails {
						begun++
					}
				}
				time.Sleep(time.Duration(40+chance.IntN(40)) * time.Minute)
				w.broken.set(nil, false)
				time.Sleep(dayInterval + 30*time.Minute)
			}
			restarts++
			stop()
			wait()
			ctx, stop = context.WithCancel(t.Context())
			wait = w.run(ctx)
			time.Sleep(3 * time.Hour)
		}
		synctest.Wait()
		if list := w.tracker.Outages(); len(list) > 0 {
			t.Errorf("outages last: %+v", list)
		}
		stop()
		wait()
		w.checkLog(begun, drifts, commits, restarts, days)
		w.checkHistory()
	})
}

// checkHistory: the history is whole, its entries are of the days that it keeps and no
// older, each write of those days is among them once, and was proved.
func (w *week) checkHistory() {
	t := w.t
	records, err := ledger.OpenReadOnly(w.ledger)
	must.Do(t, err)
	defer records.Close()
	report, err := records.VerifyHistory(t.Context())
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("verifying: %v, %+v", err, report)
	}
	var writes int
	var oldest, newest time.Time
	_, err = records.History(t.Context(), reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		if oldest.IsZero() {
			oldest = e.At
		}
		newest = e.At
		if e.Kind == reconcile.EntryWrite {
			writes++
			if e.Result == nil {
				t.Errorf("the write of %v has no result", e.At)
			}
		}
		return nil
	})
	must.Do(t, err)
	patches := 0
	for _, r := range w.server.Transcript() {
		if r.Method == http.MethodPatch && !r.At.Before(oldest) {
			patches++
		}
	}
	if kept := newest.Sub(oldest); kept > weekHistory.Keep*3/2 || kept < weekHistory.Keep/2 {
		t.Errorf("entries of %v are kept, want about %v", kept, weekHistory.Keep)
	}
	if writes == 0 || writes < patches || writes > patches+1 {
		t.Errorf("%d writes on record since %v, and %d PATCHes", writes, oldest, patches)
	}
}

// tookOver is how many outages of the platform were told as one of zones or of an account first: for
// minutes no others were asked for. That one ends in the moment in which the platform's begins.
func (w *weekLog) tookOver() (n int) {
	for i, line := range w.outages[1:] {
		narrow := strings.HasPrefix(line, "outage ended: zone ") || strings.HasPrefix(line, "outage ended: account ")
		if narrow && strings.HasPrefix(w.outages[i], "outage began: platform ") {
			n++
		}
	}
	return n
}

func (w *week) checkLog(begun, drifts, commits, restarts, days int) {
	t, l := w.t, w.log
	patches := 0
	for _, r := range w.server.Transcript() {
		if r.Method == http.MethodPatch && r.Status == http.StatusOK {
			patches++
		}
	}
	total := 0
	for _, n := range l.lines {
		total += n
	}
	begun += l.tookOver()
	t.Logf("%d days, %d drifts, %d commits, %d outages: %d lines, %d bytes: %v", days, drifts, commits, begun, total, l.bytes, l.lines)
	if got := l.lines["change applied and proved"]; got < patches || patches < drifts {
		t.Errorf("%d lines about %d writes, after %d drifts", got, patches, drifts)
	}
	if got := l.lines["outage began"]; got != begun {
		t.Errorf("%d outages began, want %d:\n%s", got, begun, strings.Join(l.outages, "\n"))
	}
	if got := l.lines["outage ended"]; got != begun {
		t.Errorf("%d outages ended, want %d:\n%s", got, begun, strings.Join(l.outages, "\n"))
	}
	if l.alarms > begun {
		t.Errorf("%d warnings and errors for %d outages: %v", l.alarms, begun, l.lines)
	}
	turns := days*24/2 + days*2
	if most := l.lines["change applied and proved"] + 2*begun + 2*commits + turns + 4*restarts; total > most {
		t.Errorf("%d lines, want at most %d: %v", total, most, l.lines)
	}
}

var _ io.Writer = (*weekLog)(nil)
