package zone

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// recorded answers as the simulator has answered. It has one zone, as it was before a write and
// as it is after one, with versions that count on: the server costs nothing.
type recorded struct {
	account       map[string][]byte // what the simulator was asked once
	before, after [][]byte          // the zone, without its versions
	live          [][]byte
	version       int

	requests, writes int
}

// RoundTrip implements [http.RoundTripper].
func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	r.requests++
	body, known := r.account[req.URL.Path]
	switch {
	case req.Method == http.MethodPatch:
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		r.live, r.version, r.writes = r.after, r.version+1, r.writes+1
		body = bytes.Join(r.live, []byte(strconv.Itoa(r.version)))
	case strings.HasPrefix(req.URL.Path, "/client/v4/zones/"):
		body = bytes.Join(r.live, []byte(strconv.Itoa(r.version)))
	case !known:
		answer, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		if body, err = io.ReadAll(answer.Body); err != nil {
			return nil, err
		}
		r.account[req.URL.Path] = body
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// drift has the zone be as it was before it was written.
func (r *recorded) drift() { r.live, r.version = r.before, r.version+1 }

// written is one zone behind the client.
type written struct {
	*recorded
	worker *Worker
	task   Task
}

// newWritten has a zone in which another threshold is live than is declared.
func newWritten(t testing.TB) *written {
	t.Helper()
	server, err := sim.Start(sim.Config{Seed: mem.Fleet(1)})
	must.Do(t, err)
	t.Cleanup(func() { server.Close() })
	w := &written{recorded: &recorded{account: map[string][]byte{}}}
	platform, err := client.New(client.Config{
		BaseURL: server.BaseURL, Transport: w.recorded, Budget: client.NewBudget(1<<30, 0),
		Token: func() (edge.Secret, error) { return server.RulesetsToken, nil },
	})
	must.Do(t, err)
	f := newFixture(t, 1)
	last, _ := f.managed(mem.CoreRuleset).Last()
	d := removing(core("wordpress"))
	d.Paranoia = &desired.Declared[int]{Value: 2}
	d.Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: 40}, Action: desired.Declared[edge.Action]{Value: edge.ActionBlock}}
	zone := func(score int) [][]byte {
		entry := *server.Platform.StoredEntryPoint(mem.FleetZone(1))
		parameters := *entry.Rules[0].ActionParameters
		parameters.Overrides = &edge.Overrides{
			Categories: []edge.CategoryOverride{{Category: "paranoia-level-3", Enabled: new(false)}, {Category: "paranoia-level-4", Enabled: new(false)}, {Category: "wordpress", Enabled: new(false)}},
			Rules:      []edge.RuleOverride{{ID: last.ID, Action: new(edge.ActionBlock), ScoreThreshold: &score}},
		}
		entry.Rules[0].ActionParameters = &parameters
		must.Do(t, server.Platform.SetEntryPoint(mem.FleetZone(1), entry))
		text, err := json.Marshal(server.Platform.StoredEntryPoint(mem.FleetZone(1)))
		must.Do(t, err)
		version := fmt.Sprintf(`"version":%q`, server.Platform.StoredEntryPoint(mem.FleetZone(1)).Version)
		around := bytes.Split([]byte(`{"result":`+string(text)+`,"success":true,"errors":[],"messages":[]}`), []byte(version))
		for i := range around[1:] {
			around[i], around[i+1] = append(around[i], `"version":"`...), append([]byte(`"`), around[i+1]...)
		}
		return around
	}
	w.before, w.after = zone(60), zone(40)
	w.drift()
	f.Worker.Reader, f.Worker.Writer, f.Worker.Accounts = platform, platform, NewAccounts(platform, f.clock.Now)
	w.worker, w.task = f.Worker, f.task(declare(1, d))
	w.task.ListedSince = f.clock.Now()
	return w
}

// look goes through all stages of the zone.
func (w *written) look(t testing.TB) []reconcile.Result {
	sight, err := w.worker.Read(t.Context(), w.task)
	must.Do(t, err)
	plan := guard.Check(w.worker.Plan(w.task, sight), guard.Facts{})
	results, _ := w.worker.Apply(t.Context(), w.task, sight, plan)
	return results
}

// A zone that is written is read once, written once, and read once as the proof. What it costs is
// so many allocations, a fifth more than when this was written: half of them were for what was
// read, planned or encoded more than once.
func TestWrittenCostsWhatItNeeds(t *testing.T) {
	w := newWritten(t)
	w.look(t)
	for _, test := range []struct {
		name  string
		steps func()
		most  float64
	}{
		{"written", func() { w.drift(); w.look(t) }, 480},
		{"as it was", func() { w.look(t) }, 75},
	} {
		w.task.Memory = (*diff.Memory)(nil).Renew()
		requests, writes := w.requests, w.writes
		if got := testing.AllocsPerRun(20, test.steps); got > test.most {
			t.Errorf("a zone %s costs %.0f allocations, want at most %.0f", test.name, got, test.most)
		}
		if written := w.writes - writes; w.requests-requests != 21+2*written || written != 0 && written != 21 {
			t.Errorf("a zone %s: %d requests and %d writes in 21 looks", test.name, w.requests-requests, written)
		}
	}
}

// BenchmarkWritten takes one zone that differs to its proof: read, plan, PATCH, read, plan. HTTP
// and the ledger are not in it.
func BenchmarkWritten(b *testing.B) {
	w := newWritten(b)
	b.ReportAllocs()
	for b.Loop() {
		w.drift()
		if results := w.look(b); len(results) != 1 || results[0].Outcome != reconcile.Converged {
			b.Fatalf("%+v", results)
		}
	}
	if w.writes == 0 {
		b.Fatal("nothing was written")
	}
}

// BenchmarkRead looks at a zone that is as it should be, and answers as before.
func BenchmarkRead(b *testing.B) {
	w := newWritten(b)
	w.live, w.version = w.after, 7
	w.task.Memory = (*diff.Memory)(nil).Renew()
	b.ReportAllocs()
	for b.Loop() {
		if results := w.look(b); len(results) != 0 {
			b.Fatalf("%+v", results)
		}
	}
}
