package tokens

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/ledger"

	tokens "github.com/seawall-dev/seawall/reconcile/token"
)

// sceneWorld is a world in which one scene was played already and another one is
// about to be.
type sceneWorld struct {
	*tokenWorld
	foreign []mem.SeedToken // all that nobody here declares
	inUse   map[string]string
	mayGo   []string // declarations whose tokens may be deleted
}

// newSceneWorld starts a platform with tokens of somebody else, whose names are
// like ours.
func newSceneWorld(t *testing.T, profile string) *sceneWorld {
	t.Helper()
	config := harness.Fleet(1)
	config.Profile = profile
	w := &sceneWorld{tokenWorld: tokenWorldOn(harness.StartPlatform(t, config), t.TempDir(), "https://git.example/edge.git"), inUse: map[string]string{}}
	w.Extended = profile == mem.Extended
	for _, name := range []string{"changed", "ci-dns [0123456789abcdef]", "made"} {
		w.bring(name)
	}
	w.foreign = w.Platform.Platform.Tokens()
	w.locked(func(l *ledger.Ledger) error { return l.Init(t.Context(), l.Binding) })
	return w
}

// bring makes a token behind the back of Seawall.
func (w *sceneWorld) bring(name string) edge.CreatedToken {
	w.T.Helper()
	created, err := w.Platform.Platform.CreateToken(w.T.Context(), plainToken(name).Spec())
	must.Do(w.T, err)
	return created
}

// adopt is a person's word that a token of their making is a declared one.
func (w *sceneWorld) adopt(token desired.Token) {
	w.T.Helper()
	created := w.bring(token.Name)
	must.Do(w.T, os.MkdirAll(w.Sink, 0o700))
	harness.Write(w.T, w.Sink, token.Sink.Key, created.Value.Reveal())
	w.locked(func(l *ledger.Ledger) error {
		return l.Adopt(w.T.Context(), diff.TokenRecord{
			Intent: tokens.NewIntent(), Key: token.Key, ID: created.ID, Spec: token.Spec(), Hash: access.Hash(token.Spec()),
			Sink: token.Sink, At: w.now(),
		})
	})
}

// plays makes a scene the declared one, and lets time pass.
func (w *sceneWorld) plays(scene string, pass time.Duration) {
	w.Scene = scene
	w.Ahead += pass
	w.SetClock(w.now())
}

// settled runs until nothing is written any more, and remembers what is in use.
func (w *sceneWorld) settled() {
	w.T.Helper()
	for range 3 {
		w.runOnce()
		w.lawful()
	}
	w.ClearTranscript()
	if report := w.runOnce(); !report.Converged() || report.Err != nil || slices.ContainsFunc(report.Plan.Changes, diff.Change.Applies) {
		w.T.Errorf("what is settled has changes %+v, problems %+v, results %+v: %v", report.Plan.Changes, report.Plan.Problems, report.Results, report.Err)
	}
	for _, entry := range w.Transcript() {
		if entry.Method != http.MethodGet {
			w.T.Errorf("what is settled was written to: %s", entry.Call())
		}
	}
	w.lawful()
	for _, token := range scenes[w.Scene]() {
		secret := w.sunk(*token.Sink)
		if got := w.signIn(secret); got != http.StatusOK {
			w.T.Errorf("%s: what is in its sink does not sign in: %d", token.Key, got)
		}
		w.inUse[token.Key] = secret
	}
}

func (w *sceneWorld) sunk(sink desired.Sink) string {
	data, err := os.ReadFile(filepath.Join(w.Sink, sink.Key))
	if err != nil && !os.IsNotExist(err) {
		w.T.Error(err)
	}
	return string(data)
}

// ours are the tokens that exist and that Seawall made or was brought.
func (w *sceneWorld) ours() []mem.SeedToken { return w.Platform.Platform.Tokens()[len(w.foreign):] }

// lawful checks what holds at any time: what is on record is true, whatever was
// in use still is, and nobody else's token was touched.
func (w *sceneWorld) lawful() {
	w.T.Helper()
	key := map[edge.TokenID]string{}
	for _, token := range w.ours() {
		key[edge.TokenID(token.ID)] = declaration(token.Name)
	}
	l, err := w.open(ledger.OpenReadOnly)
	must.Do(w.T, err)
	defer l.Close()
	live, err := l.Tokens(w.T.Context())
	if err != nil || live.Unknown != "" {
		w.T.Fatalf("reading the ledger: %v %s", err, live.Unknown)
	}
	truth := tokenTruth{
		Now: w.now(), Existing: w.ours(), Records: live.Records, Key: key, Adopted: w.adopted, Sunk: w.sunk,
		Sealed:  func(intent string) (edge.Secret, error) { return l.Sealed(w.T.Context(), intent) },
		Pruning: func(key string) bool { return slices.Contains(w.mayGo, key) },
	}
	for _, law := range truth.broken() {
		w.T.Error(law)
	}
	for key, secret := range w.inUse {
		if got := w.signIn(secret); got != http.StatusOK && !slices.Contains(w.mayGo, key) {
			w.T.Errorf("%s: a secret that was in use does not sign in: %d", key, got)
		}
	}
	if got := w.Platform.Platform.Tokens(); fmt.Sprint(got[:len(w.foreign)]) != fmt.Sprint(w.foreign) {
		w.T.Errorf("somebody else's tokens were %v, are %v", w.foreign, got[:len(w.foreign)])
	}
	nowhereBelow(w.tokenWorld.Platform, w.State)
}

// exist checks how many tokens there are of each declaration.
func (w *sceneWorld) exist(want map[string]int) {
	w.T.Helper()
	got := map[string]int{}
	for _, token := range w.ours() {
		got[declaration(token.Name)]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.T.Errorf("there are %v, want %v", got, want)
	}
}
