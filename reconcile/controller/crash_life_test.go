package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// life is one process of the crash model: it may end before or after any request and any
// write to the ledger. What it calls from then on has no effect, as after a kill.
type life struct {
	*Controller
	source  *source.Source
	journal *journal
	cancel  context.CancelFunc
	died    chan struct{} // closed at the end
	ended   chan struct{} // closed once all of its goroutines have noticed

	mu    sync.Mutex
	left  int  // calls until it ends; negative: it does not
	after bool // the last call has its effect, and is not answered
	dead  bool
}

var errDead = errors.New("the process has ended")

// die ends the process; the caller holds the lock.
func (l *life) die() {
	if !l.dead {
		l.dead = true
		l.cancel()
		close(l.died)
	}
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// endsAfter has the process end with a later call.
func (l *life) endsAfter(calls int, after bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.after = calls, after
}

// call makes a call of the process.
func (l *life) call(do func() error) error {
	l.mu.Lock()
	last := l.left == 0
	if l.left >= 0 {
		l.left--
	}
	if last && !l.after {
		l.die()
	}
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return errDead
	}
	err := do()
	if last {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.die()
		return errDead
	}
	return err
}

// begin begins a process over what is on record, until one comes as far as to run.
func (w *crashes) begin() {
	for {
		l := w.newLife()
		config := w.config
		config.Source, config.Reporters = l.source, []reconcile.Reporter{l.journal}
		memory, err := ledger.Open(w.path)
		if err != nil {
			w.laws.broken("opening the ledger: %v", err)
			return
		}
		config.Records = &mortal{Ledger: memory, life: l, crashes: w}
		lane := config.Lanes.All[0]
		lane.Reader, lane.Writer = l.platform(w)
		config.Lanes = reconcile.OneLane(lane)
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		w.life = l
		w.laws.tally.Lives++
		l.Controller, err = New(ctx, config)
		w.lives.Go(func() {
			if err == nil {
				l.Run(ctx)
			}
			close(l.ended)
			if err := memory.Close(); err != nil {
				w.laws.broken("closing the ledger: %v", err)
			}
		})
		if err == nil {
			w.laws.disturb()
			return
		}
		if !l.isDead() {
			w.laws.broken("beginning: %v", err)
			return
		}
	}
}

func (w *crashes) newLife() *life {
	l := &life{journal: &journal{}, died: make(chan struct{}), ended: make(chan struct{}), left: -1}
	if len(w.doomed) > 0 {
		l.left, l.after = w.doomed[0]/2, w.doomed[0]%2 == 1
		w.doomed = w.doomed[1:]
	}
	l.source = source.New(source.Config{Source: w.repo, Compiler: w.repo, Agreed: w.repo.Agreed, Schedule: cron.Every(time.Minute), Now: time.Now})
	return l
}

// platform is the real client of a process, with the budget that all processes share.
func (l *life) platform(w *crashes) (edge.Reader, edge.Writer) {
	token := mem.DefaultTokens()[0].Value
	c, err := client.New(client.Config{
		BaseURL: "http://127.0.0.1/client/v4", Token: func() (edge.Secret, error) { return edge.NewSecret(token), nil },
		Budget: w.budget, Concurrency: crashWorkers, Transport: &mortalTransport{l, w},
	})
	if err != nil {
		w.laws.broken("the client: %v", err)
	}
	return c, &watchedWriter{c, l, w}
}

// watchedWriter holds writes to the laws, at the moment at which they were permitted.
type watchedWriter struct {
	edge.Writer
	life *life
	*crashes
}

func (p *watchedWriter) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	if p.life.isDead() {
		return nil, errDead
	}
	if w.Call == edge.CallUpdateRule {
		p.checkWrite(w.Scope, strings.Join(reconciletest.TagsOff(w.Rules[0]), ","))
	}
	return p.Writer.Send(ctx, w)
}

// mortalTransport is the network of a process, with the simulator at its end.
type mortalTransport struct {
	life *life
	*crashes
}

// RoundTrip implements [http.RoundTripper].
func (p *mortalTransport) RoundTrip(r *http.Request) (response *http.Response, err error) {
	err = p.life.call(func() error {
		response, err = p.answer(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// answer is what the platform answers, in the weather that there is.
func (w *crashes) answer(r *http.Request) (*http.Response, error) {
	w.laws.sent()
	time.Sleep(crashLatency)
	_, path, _ := strings.Cut(r.URL.Path, "/zones/")
	zone, _, _ := strings.Cut(path, "/")
	id, patch := edge.ZoneScope(edge.ZoneID(zone)), r.Method == http.MethodPatch
	f := w.faults.now(zone)
	if !id.IsZero() && !patch {
		w.laws.asked(id)
	}
	if f.slow && !patch {
		select {
		case <-time.After(12 * time.Second):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	recorder := httptest.NewRecorder()
	if f.status != 0 {
		recorder.WriteHeader(f.status)
		_, _ = recorder.WriteString(`{"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[],"result":null}`)
		return recorder.Result(), nil
	}
	lost, arrives := false, true
	if patch {
		lost, arrives = w.faults.loses()
	}
	if arrives {
		if err := w.serve(recorder, r, id); err != nil {
			return nil, err
		}
	}
	if lost {
		return nil, io.ErrUnexpectedEOF
	}
	return recorder.Result(), nil
}

// serve has the simulator answer, and notes what a write does to people's own tags.
func (w *crashes) serve(recorder *httptest.ResponseRecorder, r *http.Request, id edge.Scope) error {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return err
		}
	}
	r = r.Clone(r.Context())
	r.RemoteAddr, r.RequestURI, r.Body = "127.0.0.1:1", r.URL.RequestURI(), io.NopCloser(bytes.NewReader(body))
	w.laws.mu.Lock()
	defer w.laws.mu.Unlock()
	w.server.Handler().ServeHTTP(recorder, r)
	if recorder.Code == http.StatusTooManyRequests {
		w.laws.fault("the platform answers 429")
	}
	switch {
	case id.IsZero() || recorder.Code != http.StatusOK:
	case r.Method == http.MethodPatch:
		var rule edge.Rule
		if err := json.Unmarshal(body, &rule); err != nil {
			return err
		}
		w.laws.written(id, handIn(strings.Join(reconciletest.TagsOff(rule), ",")), handIn(w.off(id)))
	default:
		w.laws.read(id)
	}
	return nil
}

// faults are what is wrong with the world for a while.
type faults struct {
	mu     sync.Mutex
	until  time.Time
	status int             // of every answer; 0: none
	slow   map[string]bool // zones that answer late
	disk   bool            // the ledger takes no write
	lost   int             // answers to writes that are to get lost
}

type weather struct {
	status int
	slow   bool
}

func (f *faults) now(zone string) weather {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !time.Now().Before(f.until) {
		return weather{}
	}
	return weather{f.status, f.slow[zone]}
}

// loses says that the answer to a write gets lost, and whether the write itself arrives.
func (f *faults) loses() (lost, arrives bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost--
	return f.lost >= 0, f.lost < 0 || f.lost%2 == 0
}

func (f *faults) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.disk && time.Now().Before(f.until)
}

// mortal is the ledger of a process.
type mortal struct {
	*ledger.Ledger
	life *life
	*crashes
}

func (m *mortal) do(do func() error) error {
	if m.faults.full() {
		return errDisk
	}
	return m.life.call(do)
}

func (m *mortal) Restore(ctx context.Context) (r reconcile.Record, err error) {
	err = m.life.call(func() error { r, err = m.Ledger.Restore(ctx); return err })
	return r, err
}

func (m *mortal) Standing(ctx context.Context) (reconcile.Standing, error) {
	if m.life.isDead() {
		return reconcile.Standing{}, errDead
	}
	return m.Ledger.Standing(ctx)
}

func (m *mortal) WrittenByCommands(ctx context.Context, after int64) ([]edge.Scope, error) {
	if m.life.isDead() {
		return nil, errDead
	}
	return m.Ledger.WrittenByCommands(ctx, after)
}

func (m *mortal) Swept(ctx context.Context, until time.Time) error {
	if m.life.isDead() {
		return errDead
	}
	return m.Ledger.Swept(ctx, until)
}

func (m *mortal) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	return m.do(func() error {
		m.laws.mu.Lock()
		defer m.laws.mu.Unlock()
		err := m.Ledger.AcceptCommit(ctx, a)
		if err == nil {
			m.laws.accept(a.Commit)
		}
		return err
	})
}

func (m *mortal) SaveState(ctx context.Context, commit string, state []reconcile.StatePart) error {
	return m.do(func() error { return m.Ledger.SaveState(ctx, commit, state) })
}

func (m *mortal) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	return m.do(func() error { return m.Ledger.Prove(ctx, commit, proofs, settled, results...) })
}

func (m *mortal) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	err = m.do(func() error { number, err = m.Ledger.RecordWrite(ctx, write, owned); return err })
	return number, err
}

func (m *mortal) Record(ctx context.Context, entries ...reconcile.Entry) error {
	return m.do(func() error { return m.Ledger.Record(ctx, entries...) })
}

func (m *mortal) Widen(ctx context.Context, owned []diff.Settled) error {
	return m.do(func() error { return m.Ledger.Widen(ctx, owned) })
}

func (m *mortal) NonConvergent(ctx context.Context, id diff.ID, fingerprint string) error {
	return m.do(func() error { return m.Ledger.NonConvergent(ctx, id, fingerprint) })
}

func (m *mortal) Forget(ctx context.Context, ids []diff.ID) error {
	return m.do(func() error { return m.Ledger.Forget(ctx, ids) })
}

func (m *mortal) Drifted(ctx context.Context, drifts []reconcile.Drift, before time.Time) error {
	return m.do(func() error { return m.Ledger.Drifted(ctx, drifts, before) })
}

func (m *mortal) Approve(ctx context.Context, approvals []reconcile.Approval) error {
	return m.do(func() error { return m.Ledger.Approve(ctx, approvals) })
}

func (m *mortal) Spend(ctx context.Context, digests []string) error {
	return m.do(func() error { return m.Ledger.Spend(ctx, digests) })
}

func (m *mortal) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	return m.do(func() error {
		m.laws.rolls()
		return m.Ledger.Roll(ctx, change)
	})
}
