package setup

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestObserveHoldsNoWriter: whatever an assembly for mode "observe" holds in a field
// through which something could be written to the platform or to a sink, is a stand-in
// that sends nothing. With mode "apply" the same walk finds the real ones, so it does
// look.
func TestObserveHoldsNoWriter(t *testing.T) {
	if got := writersIn(t, "apply"); len(got) < 3 {
		t.Errorf("with mode apply it finds only %v", got)
	}
	if got := writersIn(t, "observe"); len(got) > 0 {
		t.Errorf("with mode observe it holds %v", got)
	}
}

// settingsFor are settings with all that a daemon can write to.
func settingsFor(t *testing.T, mode string) Settings {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"rulesets", "tokens"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("secret-"+name+"\n"), 0o600))
	}
	config := `source: url: "file://` + dir + `"
platform: {base_url: "http://127.0.0.1:1/client/v4", profile: "extended"}
credentials: {rulesets: file: "` + filepath.Join(dir, "rulesets") + `", tokens: file: "` + filepath.Join(dir, "tokens") + `"}
state: dir: "` + filepath.Join(dir, "state") + `"
sinks: ci: file: root: "` + dir + `/secrets"
mode: "` + mode + `"
`
	path := filepath.Join(dir, "config.cue")
	must.Do(t, os.WriteFile(path, []byte(config), 0o600))
	s, err := ReadSettings((&cli.Terminal{}), Options{Config: path})
	must.Do(t, err)
	return s
}

// TestReviewsHoldNoWriter: a pull request is read, and dry runs are all that is tried.
func TestReviewsHoldNoWriter(t *testing.T) {
	a := &Assembly{Reading: Reading{Close: func() {}}}
	lanes, _, err := a.ReviewLanes(settingsFor(t, "apply"), slog.New(slog.DiscardHandler))
	must.Do(t, err)
	defer a.Close()
	if got := writersOf(lanes); len(lanes.All) == 0 || len(got) > 0 {
		t.Errorf("%d credentials hold %v", len(lanes.All), got)
	}
}

// TestReviewLanesAreClosed: a daemon that is reloaded often does not keep the connections and the
// budgets of the reviews before.
func TestReviewLanesAreClosed(t *testing.T) {
	closed := make(chan struct{}, 8)
	platform := httptest.NewUnstartedServer(http.NotFoundHandler())
	platform.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	platform.Start()
	defer platform.Close()
	s := settingsFor(t, "apply")
	s.setBaseURL(platform.URL)
	a := &Assembly{Reading: Reading{Close: func() {}}}
	lanes, _, err := a.ReviewLanes(s, slog.New(slog.DiscardHandler))
	must.Do(t, err)
	if _, err := lanes.All[0].Reader.EntryPoint(t.Context(), edge.ZoneScope("00000000000000000000000000000001"), edge.PhaseFirewallManaged); !errors.As(err, new(*edge.Error)) {
		t.Fatalf("the platform: %v", err)
	}
	a.Close()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the connection stays open")
	}
}

func writersOf(lanes reconcile.Lanes) []string {
	w := writerWalk{seen: map[uintptr]bool{}}
	w.lanes(lanes)
	return w.found
}

// writersIn are the fields of an assembly for a daemon that can write.
func writersIn(t *testing.T, mode string) (found []string) {
	t.Helper()
	s := settingsFor(t, mode)
	a, err := Assemble(t.Context(), s, s.Serving(), slog.New(slog.DiscardHandler))
	must.Do(t, err)
	defer a.Close()
	w := writerWalk{seen: map[uintptr]bool{}}
	w.lanes(a.Lanes)
	w.walk("tokens", reflect.ValueOf(&a.Tokens))
	work := a.TokenWork()
	w.walk("tokenWork", reflect.ValueOf(&work).Elem())
	return w.found
}

// writerWalk looks at all that a value holds.
type writerWalk struct {
	seen  map[uintptr]bool
	found []string
}

func (w *writerWalk) lanes(lanes reconcile.Lanes) {
	for i := range lanes.All {
		lane := &lanes.All[i]
		w.walk("reader", reflect.ValueOf(lane.Reader))
		w.walk("writer", reflect.ValueOf(&lane.Writer).Elem())
		w.walk("dry runs", reflect.ValueOf(&lane.DryRunner).Elem())
	}
}

var writerTypes = []reflect.Type{
	reflect.TypeFor[edge.Writer](), reflect.TypeFor[edge.TokenWriter](), reflect.TypeFor[reconcile.Sinks](),
}

// harmless are the stand-ins. Views that only read hide what they look through.
var harmless = map[string]bool{
	"edge.NoWriter": true, "edge.readOnly": true, "edge.dryRunOnly": true, "edge.readOnlyTokens": true, "token.noCredential": true, "setup.checkedSinks": true,
}

func (w *writerWalk) walk(path string, v reflect.Value) {
	if !v.IsValid() || harmless[v.Type().String()] {
		return
	}
	if v.Kind() == reflect.Interface {
		if !v.IsNil() {
			w.walk(path, v.Elem())
		}
		return
	}
	for _, writes := range writerTypes {
		if v.Type().Implements(writes) && !(v.Kind() == reflect.Pointer && v.IsNil()) {
			w.found = append(w.found, path+" ("+v.Type().String()+")")
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Pointer()] {
			return
		}
		w.seen[v.Pointer()] = true
		w.walk(path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

// Whatever process that writes or serves is the first over a ledger that was put back, a revert too, has it on
// record for all.
func TestAnyPurposeNotesAPutBack(t *testing.T) {
	for _, why := range []Purpose{ToApply, ToServe, toObserve, ToRevert} {
		s := settingsFor(t, "apply")
		accept := func(commit string) {
			t.Helper()
			l, err := s.OpenLedger(t.Context())
			must.Do(t, err)
			must.Do(t, errors.Join(l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: commit}), l.Close()))
		}
		accept("c1")
		kept, err := os.ReadFile(s.LedgerPath())
		must.Do(t, err)
		accept("c2")
		must.Do(t, os.WriteFile(s.LedgerPath(), kept, 0o600))
		l, err := s.OpenLedger(t.Context())
		must.Do(t, err)
		must.Do(t, announce(t.Context(), l, s, why, slog.New(slog.DiscardHandler)))
		if standing, err := l.Standing(t.Context()); err != nil || standing.PutBack == 0 {
			t.Errorf("for purpose %d: %+v %v", why, standing, err)
		}
		must.Do(t, l.Close())
	}
}
