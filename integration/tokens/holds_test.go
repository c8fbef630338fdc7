package tokens

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// made returns the tokens that were created, by name without the attempt.
func made(p *harness.Platform) map[string][]mem.SeedToken {
	made := map[string][]mem.SeedToken{}
	for _, token := range p.Platform.Tokens()[len(mem.DefaultTokens()):] {
		name := declaration(token.Name)
		made[name] = append(made[name], token)
	}
	return made
}

// creations counts the requests to create a token, whatever became of them.
func creations(p *harness.Platform) (n int) {
	for _, call := range p.Calls() {
		if call == http.MethodPost+" "+edge.TokensPath() {
			n++
		}
	}
	return n
}

// records returns what a process that looks now finds in the ledger.
func (w *tokenWorld) records() map[string][]diff.TokenRecord {
	w.T.Helper()
	l, err := w.open(ledger.OpenReadOnly)
	must.Do(w.T, err)
	defer l.Close()
	live, err := l.Tokens(w.T.Context())
	if err != nil || live.Unknown != "" {
		w.T.Fatalf("reading the ledger: %v %s", err, live.Unknown)
	}
	byKey := map[string][]diff.TokenRecord{}
	for _, r := range live.Records {
		byKey[r.Key] = append(byKey[r.Key], r)
		if r.State == diff.TokenConfirmed && !r.Delivered {
			secret, err := l.Sealed(w.T.Context(), r.Intent)
			if err != nil || !secret.Equal(w.value(r)) {
				w.T.Errorf("%s: what is sealed does not open, or is another secret than the platform's: %v", r.Key, err)
			}
		}
	}
	return byKey
}

// value is the secret that the platform has for a record; zero where it has no
// such token.
func (w *tokenWorld) value(r diff.TokenRecord) edge.Secret {
	for _, token := range made(w.Platform)[declaration(r.Spec.Name)] {
		if token.ID == string(r.ID) {
			return edge.NewSecret(token.Value)
		}
	}
	return edge.Secret{}
}

// holds checks what must be true at any time, whatever died or was cut:
//
//	one token for each declaration at most
//	confirmed ≤ existing ≤ confirmed + those whose outcome is unknown
//	a confirmed secret is delivered, and signs in, or sealed, and opens
func (w *tokenWorld) holds() {
	w.T.Helper()
	made, records := made(w.Platform), w.records()
	for name := range made {
		if !slices.Contains(tokenKeys, name) {
			w.T.Errorf("there is a token %q, which nobody declared", name)
		}
	}
	for _, key := range tokenKeys {
		confirmed, unknown := 0, 0
		for _, r := range records[key] {
			if r.State == diff.TokenConfirmed {
				confirmed++
				w.confirmed(r)
			} else {
				unknown++
			}
		}
		existing := len(made[key])
		if existing > 1 || confirmed > existing || existing > confirmed+unknown {
			w.T.Errorf("%s: %d exist, %d are confirmed, of %d the outcome is unknown", key, existing, confirmed, unknown)
		}
	}
}

func (w *tokenWorld) confirmed(r diff.TokenRecord) {
	w.T.Helper()
	value := w.value(r)
	switch {
	case value.IsZero():
		w.T.Errorf("%s: the platform has no token %s", r.Key, r.ID)
	case r.Delivered && !w.adopted[r.ID]:
		data, err := os.ReadFile(filepath.Join(w.Sink, r.Sink.Key))
		if err != nil || string(data) != value.Reveal() {
			w.T.Errorf("%s: the sink has another secret than the platform: %v", r.Key, err)
		}
		if got := w.signIn(string(data)); got != http.StatusOK {
			w.T.Errorf("%s: what was delivered does not sign in: %d", r.Key, got)
		}
		if got := w.signIn(string(data) + "x"); got != http.StatusUnauthorized {
			w.T.Fatalf("anything signs in: %d", got)
		}
	}
}

func (w *tokenWorld) signIn(secret string) int {
	w.T.Helper()
	request, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.tokenPlace.BaseURL+edge.EntryPointPath(mem.FleetZone(1), edge.PhaseFirewallManaged), nil)
	must.Do(w.T, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	answer, err := http.DefaultClient.Do(request)
	must.Do(w.T, err)
	defer answer.Body.Close()
	return answer.StatusCode
}

// resolve gives a person's word on each creation whose outcome is unknown, by
// what is on the platform, and returns how many there were.
func (w *tokenWorld) resolve() (n int) {
	w.T.Helper()
	made, records := made(w.Platform), w.records()
	w.locked(func(l *ledger.Ledger) error {
		for key, list := range records {
			if list[len(list)-1].State != diff.TokenQuarantined {
				continue
			}
			n++
			word := ledger.Resolution{How: ledger.ByRetrying}
			if len(made[key]) > 0 {
				word = ledger.Resolution{How: ledger.ByAdopting, ID: edge.TokenID(made[key][0].ID)}
				w.adopted[word.ID] = true
			}
			if err := l.Resolve(w.T.Context(), key, word); err != nil {
				return fmt.Errorf("resolving %s: %w", key, err)
			}
		}
		return nil
	})
	return n
}

// ends checks that nothing is left to do: every declaration has its one token.
func (w *tokenWorld) ends() {
	w.T.Helper()
	w.holds()
	made, records := made(w.Platform), w.records()
	for _, key := range tokenKeys {
		if len(made[key]) != 1 || len(records[key]) != 1 || !records[key][0].Delivered {
			w.T.Errorf("%s: %d exist, on record are %+v", key, len(made[key]), records[key])
		}
	}
}
