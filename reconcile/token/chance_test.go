package token

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestNoTokenIsDoubled: whatever is committed, clicked, lost, killed and out of
// order, the laws hold after each work, and in the end everything is as declared.
func TestNoTokenIsDoubled(t *testing.T) {
	for _, profile := range []string{mem.Documented, mem.Extended} {
		t.Run(profile, func(t *testing.T) {
			died, waiting := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				h := newHistory(t, profile == mem.Extended)
				for range rapid.IntRange(1, 9).Draw(t, "steps") {
					h.step()
				}
				h.settle()
				died, waiting = died+h.died, waiting+h.waiting
			})
			if died < 5 || waiting < 2 {
				t.Errorf("a process died %d times only, %d times of them while it waited", died, waiting)
			}
		})
	}
}

// history is a life of tokens that chance writes.
type history struct {
	*fixture
	*rapid.T
	extended bool
	story    []string // what happened, for who reads a failure
	foreign  []mem.SeedToken

	declared      map[string]desired.Token
	mayDelete     map[string]bool // by declaration
	died, waiting int             // processes, and those of them that waited for the budget
}

func newHistory(t *rapid.T, extended bool) *history {
	h := &history{T: t, extended: extended, declared: map[string]desired.Token{}, mayDelete: map[string]bool{}}
	h.fixture = newFixture(h)
	if extended {
		h.fixture = newExtended(h, mem.QuirkReorder)
		h.Writer = careful{h.Writer, h}
	}
	h.NameSuffix = " [{intent}]"
	for _, name := range []string{"a", "b", "a [0123456789abcdef]"} { // somebody else's, with names like ours
		if _, err := h.platform.truth.CreateToken(t.Context(), edge.TokenSpec{Name: name, Policies: declare("a", zoneA).Spec().Policies}); err != nil {
			t.Fatal(err)
		}
	}
	h.foreign = h.platform.truth.Tokens()
	return h
}

func (h *history) Fatalf(format string, args ...any) {
	h.T.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(h.story, "\n"))
}

func (h *history) Errorf(format string, args ...any) { h.Fatalf(format, args...) }

func (h *history) tell(format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf(format, args...))
}

// step is one thing that happens.
func (h *history) step() {
	steps := []func(){h.commit, h.commit, h.commit, h.pass, h.mishap, h.settle}
	if h.extended {
		steps = append(steps, h.click, h.click)
	}
	steps[rapid.IntRange(0, len(steps)-1).Draw(h.T, "step")]()
}

// commit declares a token, anew or in another form, or leaves it out. Mostly work
// follows.
func (h *history) commit() {
	key := rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(h.T, "key")
	if rapid.IntRange(0, 4).Draw(h.T, "leave out") == 0 {
		delete(h.declared, key)
		h.tell("%s is no longer declared", key)
	} else {
		h.declares(key)
	}
	tokens := []desired.Token{}
	for _, key := range []string{"a", "b"} {
		if token, ok := h.declared[key]; ok {
			tokens = append(tokens, token)
		}
	}
	h.push(tokens...)
	if rapid.IntRange(0, 3).Draw(h.T, "work") > 0 {
		h.mishap()
	}
}

func (h *history) declares(key string) {
	token := declare(key, rapid.SampledFrom([]string{zoneA, zoneB}).Draw(h.T, "zone"))
	token.Sink.Key = key + rapid.SampledFrom([]string{"", "", "/elsewhere"}).Draw(h.T, "sink")
	token.Prune = rapid.Bool().Draw(h.T, "prune")
	if rapid.IntRange(0, 2).Draw(h.T, "rotate") == 0 {
		token.Rotate = rotating(key).Rotate
	}
	h.declared[key] = token
	h.mayDelete[key] = h.mayDelete[key] || token.Prune
	h.tell("declared %s: %v, sink %s, prune %v, rotate %v", key, token.Policies[0].Resources, token.Sink.Key, token.Prune, token.Rotate != nil)
}

func (h *history) pass() {
	h.passes(rapid.SampledFrom([]time.Duration{time.Minute, 6 * time.Minute, day, 29 * day, 31 * day, 100 * day}).Draw(h.T, "time"))
}

// passes lets time go on. What was sent has arrived by then.
func (h *history) passes(d time.Duration) {
	if h.platform.late != nil {
		h.platform.late()
	}
	h.platform.late = nil
	h.advance(d)
	h.tell("%s pass", d)
}

// mishap is work in which something may go wrong. Its process may have done other
// work before.
func (h *history) mishap() {
	switch rapid.SampledFrom([]string{"nothing", "restart", "death", "wait", "answer", "sink", "disk", "all"}).Draw(h.T, "mishap") {
	case "restart":
		h.restart()
	case "death":
		h.drawMoment()
	case "wait":
		h.platform.admit = func(context.Context) error { h.waiting++; panic(errCrash) }
	case "answer":
		h.drawFate()
	case "sink":
		h.sinks.down = rapid.IntRange(1, 3).Draw(h.T, "deliveries")
	case "disk":
		step := rapid.SampledFrom([]string{"intend", "not created", "quarantine", "confirm", "open the seal", "delivered", "amend", "prunable", "gone"}).Draw(h.T, "disk full")
		h.fail[step] = errDiskFull
		h.drawFate()
	case "all":
		h.drawMoment()
		h.sinks.down = rapid.IntRange(0, 1).Draw(h.T, "deliveries")
		h.drawFate()
	}
	h.try()
	h.holds()
}

func (h *history) drawMoment() { h.at = rapid.IntRange(1, 20).Draw(h.T, "dies at") }

func (h *history) drawFate() {
	h.platform.fate = rapid.SampledFrom([]string{
		"", "refuse create", "before create", "after create", "late create", "after create", "refuse roll", "before roll", "after roll",
		"before put", "after put", "late put", "before delete", "after delete", "late delete",
	}).Draw(h.T, "fate")
}

// try does work, of a process that may die.
func (h *history) try() (o Outcome) {
	h.tell("work: dies at %d or waiting %v, %q, %d deliveries fail, disk full %v", h.at, h.platform.admit != nil, h.platform.fate, h.sinks.down, h.fail)
	defer func() {
		died := recover()
		h.tell("  took %v; died %v", h.taken, died)
		if died != nil && died != errCrash {
			panic(died)
		}
		if died != nil {
			h.died++
			h.restart()
		}
		h.at, h.moment, h.sinks.down, h.platform.fate, h.platform.admit = 0, 0, 0, "", nil
		clear(h.fail)
	}()
	h.moment = 0
	return h.work()
}

func (h *history) holds() {
	h.fixture.holds()
	for _, token := range h.foreign {
		if now, _ := h.platform.token(edge.TokenID(token.ID)); fmt.Sprint(now) != fmt.Sprint(token) {
			h.Fatalf("somebody else's token %s became %s", token.Name, now.Name)
		}
	}
}

// click is somebody in the dashboard.
func (h *history) click() {
	living := h.platform.living()
	if len(living) == 0 {
		return
	}
	id := edge.TokenID(living[rapid.IntRange(0, len(living)-1).Draw(h.T, "token")].ID)
	live, err := h.platform.truth.UserToken(h.Context(), id)
	must.Do(h, err)
	what := rapid.SampledFrom([]string{"widens", "renames", "disables", "ends"}).Draw(h.T, "click")
	spec := live.TokenSpec
	switch what {
	case "widens":
		spec.Policies = append(slices.Clone(spec.Policies), edge.Policy{
			Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAllAccounts: {}},
			PermissionGroups: []edge.PermissionGroup{{ID: mem.AccountLogsGroup}},
		})
	case "renames":
		spec.Name += " by hand"
	case "disables":
		live.Status = "disabled"
	case "ends":
		h.platform.ended[id] = true
		err = h.platform.truth.DeleteToken(h.Context(), id)
	}
	h.tell("somebody %s %s of %s", what, id, h.platform.key[id])
	if what != "ends" {
		for i := range spec.Policies {
			spec.Policies[i].ID = "" // as for a new token
		}
		_, err = h.platform.truth.UpdateToken(h.Context(), id, live.Update(spec))
	}
	must.Do(h, err)
}

// settle lets time pass and does work until nothing is left, and then expects that
// nothing is.
func (h *history) settle() {
	h.passes(time.Hour)
	for range 5 {
		o := h.try()
		h.holds()
		if len(o.Plan.Problems) > 0 {
			h.person()
		}
	}
	o := h.try()
	h.holds()
	known := []string{"list", "get", "groups", "verify"}
	wrote := slices.ContainsFunc(h.taken, func(step string) bool { return !slices.Contains(known, step) })
	if wrote || o.Err != nil || len(o.Results) > 0 || len(o.Plan.Problems) > 0 || slices.ContainsFunc(o.Plan.Changes, diff.Change.Applies) {
		h.Fatalf("what is settled took %v, has error %v, results %v, problems %+v, changes %+v", h.taken, o.Err, results(o), o.Plan.Problems, o.Plan.Changes)
	}
	for key, token := range h.declared {
		h.inUse(key, token)
		h.mayDelete[key] = token.Prune
	}
	h.tell("settled")
}

// person does what the plan asks a person for.
func (h *history) person() {
	for _, r := range slices.Clone(h.records()) {
		switch {
		case r.State == diff.TokenQuarantined && !h.extended:
			h.resolve(h.memory.record(r.Intent))
		case r.State == diff.TokenConfirmed && h.platform.ended[r.ID]:
			// All that are on record are gone, and only a person may say so.
			must.Do(h, h.memory.Gone(h.Context(), r.Intent))
			h.tell("a person says that %s is revoked", r.ID)
		}
	}
}

// resolve says what became of a creation whose outcome is unknown.
func (h *history) resolve(r *diff.TokenRecord) {
	for _, token := range h.platform.living() {
		if strings.Contains(token.Name, r.Intent) {
			r.State, r.ID, r.Delivered = diff.TokenConfirmed, edge.TokenID(token.ID), true
			h.sinks.sunk[*r.Sink] = token.Value
			h.tell("a person adopts %s for %s", token.ID, r.Key)
			return
		}
	}
	h.tell("a person says that nothing came of the creation for %s", r.Key)
	h.memory.drop(r.Intent)
}

// inUse: the secret where a declaration wants it is of a token as declared.
func (h *history) inUse(key string, want desired.Token) {
	owner, spec, ok := h.platform.truth.TokenByValue(edge.NewSecret(h.sinks.sunk[*want.Sink]))
	if !ok || h.platform.key[edge.TokenID(owner.ID)] != key {
		h.Fatalf("the sink of %s has no secret of its own that works", key)
	}
	name, _, _ := strings.Cut(spec.Name, " [")
	shall := want.Spec()
	shall.Name, shall.ExpiresOn = spec.Name, spec.ExpiresOn
	if access.Hash(spec) != access.Hash(shall) || name != want.Name {
		h.Fatalf("the token in use for %s is not as declared: %+v", key, spec)
	}
	if want.Rotate != nil && spec.ExpiresOn != "" {
		if end, err := time.Parse(time.RFC3339, spec.ExpiresOn); err != nil || end.Before(h.now.Add(want.Rotate.Overlap)) {
			h.Fatalf("the token in use for %s ends at %s, now is %s", key, spec.ExpiresOn, h.now)
		}
	}
}

// careful looks at what is written to tokens that may be in use.
type careful struct {
	edge.TokenWriter
	h *history
}

func (c careful) DeleteToken(ctx context.Context, id edge.TokenID) error {
	h, key := c.h, c.h.platform.key[id]
	token, _ := h.platform.token(id)
	if key == "" || !h.mayDelete[key] {
		h.Fatalf("token %s of %q was deleted, which nothing allows", id, key)
	}
	if declared, ok := h.declared[key]; ok && token.Value != "" && h.sinks.sunk[*declared.Sink] == token.Value {
		h.Fatalf("token %s of %q was deleted while it is in use", id, key)
	}
	if end, err := time.Parse(time.RFC3339, token.ExpiresOn); err == nil && h.now.Before(end) && h.declared[key].Rotate != nil {
		h.Fatalf("token %s of %q was deleted before its end", id, key)
	}
	return c.TokenWriter.DeleteToken(ctx, id)
}

func (c careful) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	if c.h.platform.key[id] == "" {
		c.h.Fatalf("token %s is not ours, and was updated", id)
	}
	return c.TokenWriter.UpdateToken(ctx, id, body)
}

func (c careful) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	token, _ := c.h.platform.token(id)
	for place, secret := range c.h.sinks.sunk {
		if secret == token.Value {
			c.h.Fatalf("token %s is in use in %s, and got another secret", id, place.Key)
		}
	}
	return c.TokenWriter.RollToken(ctx, id)
}
