package tokens

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// chanceWorld is a life of tokens that chance writes: the platform in memory, a
// real ledger, a sink in memory, and a clock that stands until it is moved.
type chanceWorld struct {
	*rapid.T
	platform *mem.Platform
	extended bool
	folder   string
	now      time.Time
	story    []string // what happened, for who reads a failure

	declared map[string]desired.Token
	sunk     map[desired.Sink]string
	down     int // how many deliveries fail, from now on
	foreign  []mem.SeedToken

	key              map[edge.TokenID]string // of every token that was created
	revoked, adopted map[edge.TokenID]bool
	mayDelete        map[string]bool // by declaration
	writes           int
	fate             string // what becomes of a write: "refuse NAME", "before NAME", "after NAME" or "late NAME"; see call
	late             func() // what takes effect before time goes on
	crashed          bool
}

var errDied = errors.New("the process died")

func (w *chanceWorld) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

func newChanceWorld(t *rapid.T, extended bool, folder string) *chanceWorld {
	w := &chanceWorld{
		T: t, extended: extended, folder: folder, now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		declared: map[string]desired.Token{}, sunk: map[desired.Sink]string{}, key: map[edge.TokenID]string{},
		revoked: map[edge.TokenID]bool{}, adopted: map[edge.TokenID]bool{}, mayDelete: map[string]bool{},
	}
	profile := mem.Documented
	var quirks []string
	if extended {
		profile, quirks = mem.Extended, []string{mem.QuirkReorder}
	}
	var err error
	w.platform, err = mem.New(mem.Config{Seed: mem.Fleet(1), Profile: profile, Quirks: quirks, Now: func() time.Time { return w.now }})
	w.must(err)
	for _, name := range []string{"a", "b", "a [0123456789abcdef]"} { // somebody else's, with names like ours
		_, err := w.platform.CreateToken(t.Context(), edge.TokenSpec{Name: name, Policies: plainToken("a").Spec().Policies})
		w.must(err)
	}
	w.foreign = w.platform.Tokens()
	w.ledger(func(l *ledger.Ledger) { w.must(l.Init(t.Context(), l.Binding)) })
	return w
}

func (w *chanceWorld) must(err error) {
	if err != nil {
		w.Fatalf("%v\n%s", err, strings.Join(w.story, "\n"))
	}
}

// ledger opens the ledger as a process of its own would.
func (w *chanceWorld) ledger(do func(*ledger.Ledger)) {
	l, err := ledger.Open(filepath.Join(w.folder, "ledger.db"))
	w.must(err)
	l.Binding = ledger.Binding{Platform: "https://platform.example", Repository: "https://git.example/edge.git"}
	defer func() { w.must(l.Close()) }()
	w.must(l.LockTokens(context.Background()))
	do(l)
}

// run is one process: it dies at the moment dieAt, unless that is zero or later
// than its end.
func (w *chanceWorld) run(dieAt int) (report reconcile.Report) {
	w.ledger(func(l *ledger.Ledger) {
		tokens := slices.Collect(maps.Values(w.declared))
		slices.SortFunc(tokens, func(a, b desired.Token) int { return strings.Compare(a.Key, b.Key) })
		config := token.Config{Calls: token.Calls{Writer: w}, Sinks: w, Now: func() time.Time { return w.now }, NameSuffix: " [{intent}]"}
		if w.extended {
			config.Reader = w.platform
		}
		r := tokenRunOf(tokenCommit(tokens), l, w.platform, config)
		m := &mortal{at: dieAt, die: func() { panic(errDied) }}
		m.takes(&r.tokens)
		defer func() {
			if died := recover(); died == errDied {
				w.crashed = true
			} else if died != nil {
				panic(died)
			}
		}()
		report = r.apply(w.Context())
		w.must(report.Err)
	})
	w.fate, w.down = "", 0
	return report
}

// call is one write on the platform: it is refused, or its answer is lost before
// it takes effect, after, or before it does so late.
func (w *chanceWorld) call(name string, do func() error) error {
	w.writes++
	fate := w.fate
	if strings.HasSuffix(fate, " "+name) {
		w.fate = ""
	}
	lost := fmt.Errorf("%s: %w", name, edge.ErrOutcomeUnknown)
	switch fate {
	case "refuse " + name:
		return fmt.Errorf("%s: %w", name, edge.ErrThrottled)
	case "before " + name:
		return lost
	case "after " + name:
		return errors.Join(do(), lost)
	case "late " + name:
		w.late = func() { _ = do() }
		return lost
	}
	return do()
}

// passes lets time go on. What was sent has arrived by then.
func (w *chanceWorld) passes(d time.Duration) {
	if w.late != nil {
		w.late()
	}
	w.late, w.now = nil, w.now.Add(d)
}

func (w *chanceWorld) Offers(call edge.Call, level edge.Level) bool {
	return w.platform.Offers(call, level)
}

func (w *chanceWorld) CreateToken(ctx context.Context, spec edge.TokenSpec) (created edge.CreatedToken, err error) {
	if err := edge.Sending(ctx); err != nil {
		return created, err
	}
	err = w.call("create", func() error {
		created, err = w.platform.CreateToken(context.Background(), spec) // it was announced
		w.key[created.ID] = declaration(spec.Name)
		return err
	})
	if err != nil {
		return edge.CreatedToken{}, err
	}
	return created, nil
}

func (w *chanceWorld) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (token edge.Token, err error) {
	err = w.call("update", func() error { token, err = w.platform.UpdateToken(ctx, id, body); return err })
	if w.key[id] == "" {
		w.Errorf("token %s is not ours, and was updated", id)
	}
	return token, err
}

func (w *chanceWorld) DeleteToken(ctx context.Context, id edge.TokenID) error {
	key := w.key[id]
	if key == "" || !w.mayDelete[key] {
		w.Errorf("token %s of %q was deleted, which nothing allows\n%s", id, key, strings.Join(w.story, "\n"))
	}
	if token, declared := w.declared[key]; declared && w.sunk[*token.Sink] == w.token(id).Value && w.token(id).Value != "" {
		w.Errorf("token %s of %q was deleted while it is in use\n%s", id, key, strings.Join(w.story, "\n"))
	}
	if end, err := time.Parse(time.RFC3339, w.token(id).ExpiresOn); err == nil && w.now.Before(end) && w.declared[key].Rotate != nil {
		w.Errorf("token %s of %q was deleted before its end\n%s", id, key, strings.Join(w.story, "\n"))
	}
	w.revoked[id] = true
	return w.call("delete", func() error { return w.platform.DeleteToken(ctx, id) })
}

func (w *chanceWorld) RollToken(ctx context.Context, id edge.TokenID) (secret edge.Secret, err error) {
	if slices.Contains(slices.Collect(maps.Values(w.sunk)), w.token(id).Value) {
		w.Errorf("token %s is in use, and got another secret\n%s", id, strings.Join(w.story, "\n"))
	}
	err = w.call("roll", func() error { secret, err = w.platform.RollToken(ctx, id); return err })
	if err != nil {
		return edge.Secret{}, err
	}
	return secret, nil
}

func (w *chanceWorld) Check(desired.Sink) error { return nil }

func (w *chanceWorld) Deliver(_ context.Context, where desired.Sink, secret edge.Secret) error {
	if w.down--; w.down >= 0 {
		return errors.New("the sink is down")
	}
	w.sunk[where] = secret.Reveal()
	return nil
}

func (w *chanceWorld) token(id edge.TokenID) mem.SeedToken {
	for _, token := range w.platform.Tokens() {
		if token.ID == string(id) {
			return token
		}
	}
	return mem.SeedToken{}
}

// made are the tokens that Seawall made and that are still there.
func (w *chanceWorld) made() []mem.SeedToken {
	return slices.DeleteFunc(w.platform.Tokens(), func(t mem.SeedToken) bool { return w.key[edge.TokenID(t.ID)] == "" })
}

// holds checks the laws that hold at any time.
func (w *chanceWorld) holds() (records []diff.TokenRecord) {
	w.ledger(func(l *ledger.Ledger) {
		live, err := l.Tokens(w.Context())
		w.must(err)
		records = live.Records
		truth := tokenTruth{
			Now: w.now, Existing: w.made(), Records: records, Key: w.key, Revoked: w.revoked, Adopted: w.adopted,
			Sealed: func(intent string) (edge.Secret, error) { return l.Sealed(w.Context(), intent) },
			Sunk:   func(sink desired.Sink) string { return w.sunk[sink] },
		}
		for _, law := range truth.broken() {
			w.Fatalf("%s\n%s", law, strings.Join(w.story, "\n"))
		}
	})
	for _, token := range w.foreign {
		if now := w.token(edge.TokenID(token.ID)); fmt.Sprint(now) != fmt.Sprint(token) {
			w.Fatalf("somebody else's token %s became %s\n%s", token.Name, now.Name, strings.Join(w.story, "\n"))
		}
	}
	return records
}
