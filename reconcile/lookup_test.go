package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// office is a platform that has all calls on tokens. Those that a plan or a run
// makes are noted in short; answer, where set, takes the place of the platform's,
// after the call took effect.
type office struct {
	*mem.Platform
	taken  []string
	answer func(call string) error
}

func (o *office) note(call string, err error) error {
	o.taken = append(o.taken, call)
	if o.answer != nil {
		return errors.Join(err, o.answer(call))
	}
	return err
}

func (o *office) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	created, err := o.Platform.CreateToken(ctx, spec)
	return created, o.note("create", err)
}

func (o *office) UserTokens(ctx context.Context) ([]edge.Token, error) {
	tokens, err := o.Platform.UserTokens(ctx)
	return tokens, o.note("list", err)
}

func (o *office) UserToken(ctx context.Context, id edge.TokenID) (edge.Token, error) {
	token, err := o.Platform.UserToken(ctx, id)
	return token, o.note("get", err)
}

func (o *office) PermissionGroups(ctx context.Context) ([]edge.PermissionGroup, error) {
	groups, err := o.Platform.PermissionGroups(ctx)
	return groups, o.note("groups", err)
}

func (o *office) VerifyToken(ctx context.Context) (edge.Token, error) {
	token, err := o.Platform.VerifyToken(ctx)
	return token, o.note("verify", err)
}

func (o *office) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	token, err := o.Platform.UpdateToken(ctx, id, body)
	return token, o.note("put", err)
}

func (o *office) DeleteToken(ctx context.Context, id edge.TokenID) error {
	return o.note("delete", o.Platform.DeleteToken(ctx, id))
}

func (o *office) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	secret, err := o.Platform.RollToken(ctx, id)
	return secret, o.note("roll", err)
}

// extendedWorld is a world whose platform lists, changes and deletes tokens.
func extendedWorld(t *testing.T, quirks ...string) (*world, *steps, *office) {
	t.Helper()
	w := newWorld(t, 1)
	s := newSteps()
	seed := mem.Fleet(1)
	seed.PermissionGroups = append(seed.PermissionGroups, mem.SeedPermissionGroup{ID: dnsGroup, Name: "DNS Write", Scopes: []string{"com.vendor.api.account.zone"}})
	platform, err := mem.New(mem.Config{Seed: seed, Profile: mem.Extended, Quirks: quirks, Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	o := &office{Platform: platform}
	w.extend(s, o)
	return w, s, o
}

func (w *world) extend(s *steps, o *office) {
	w.Tokens, w.Sinks, w.Creator, w.TokenReader, w.TokenWriter = s, s, o, o, o
	w.NameSuffix = " [{intent}]"
}

const dnsGroup = "4755a26eedb94da69e1066d98aa820be"

// made are the tokens on the platform that were made here, by their names without
// the attempt.
func (o *office) made() (names []string) {
	for _, token := range o.Tokens() {
		if before, _, ours := strings.Cut(token.Name, " ["); ours {
			names = append(names, before)
		}
	}
	slices.Sort(names)
	return names
}

func (o *office) wantTaken(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(o.taken, want) {
		t.Errorf("calls %v, want %v", o.taken, want)
	}
	o.taken = nil
}

func TestTokenDriftIsHealed(t *testing.T) {
	for _, quirks := range [][]string{nil, {"reorder"}} {
		w, s, o := extendedWorld(t, quirks...)
		pushTokens(w, "c1", token("ci-dns", zoneA))
		w.converge(sweep)
		o.wantTaken(t, "list", "groups", "verify", "create")
		w.converge(sweep)
		o.wantTaken(t, "list") // and nothing else: what the platform filled in is no drift

		id := s.live.Records[0].ID
		live, err := o.Platform.UserToken(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		wider := live.TokenSpec
		wider.Policies = append(token("x", zoneA).Spec().Policies, token("x", zoneB).Spec().Policies...)
		if _, err := o.Platform.UpdateToken(t.Context(), id, live.Update(wider)); err != nil {
			t.Fatal(err)
		}
		report, _ := w.converge(sweep)
		o.wantTaken(t, "list", "put", "get")
		if c := tokenChanges(report.Plan); len(c) != 1 || c[0].Action != diff.ActionUpdate || c[0].Direction != diff.Strengthens {
			t.Errorf("changes %+v", c)
		}
		w.converge(sweep)
		o.wantTaken(t, "list")
	}
}

func TestChangedDeclarationUpdatesInPlace(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	secret := s.sunk["ci-dns"]
	o.taken = nil
	changed := token("ci-dns", zoneB)
	changed.Name = "renamed"
	pushTokens(w, "c2", changed)
	w.converge(sweep)
	o.wantTaken(t, "list", "put", "get")
	if got := o.made(); !slices.Equal(got, []string{"renamed"}) || s.sunk["ci-dns"] != secret {
		t.Errorf("made %v", got)
	}
	if r := s.live.Records[0]; !strings.Contains(r.Spec.Name, "renamed ["+r.Intent) || len(s.live.Records) != 1 {
		t.Errorf("on record %+v", s.live.Records)
	}
	// Without the extended calls the same record means the same token.
	w.TokenReader, w.TokenWriter = nil, nil
	if report, _ := w.converge(sweep); len(tokenChanges(report.Plan)) != 0 {
		t.Errorf("changes %+v", tokenChanges(report.Plan))
	}
}

// An update is judged by what is read back, whatever became of its answer.
func TestUpdateOfUnknownOutcome(t *testing.T) {
	w, _, o := extendedWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("ci-dns", zoneB))
	o.answer = func(call string) error {
		if call == "put" {
			return errLost
		}
		return nil
	}
	o.taken = nil
	w.converge(sweep)
	o.wantTaken(t, "list", "put", "get")
}

// A process that died between the update and its record: the next run finds the
// token as declared, and writes down that it is.
func TestUpdateThatWasNotRecorded(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("ci-dns", zoneB))
	s.fail["amend"] = errors.New("disk full")
	if report, _ := w.run(sweep); report.Count(Failed) != 1 {
		t.Errorf("results %v", outcomes(report))
	}
	s.fail, o.taken = map[string]error{}, nil
	hash := s.live.Records[0].Hash
	w.converge(sweep)
	o.wantTaken(t, "list")
	if s.live.Records[0].Hash == hash {
		t.Error("the record was not brought up to date")
	}
}

func TestUpdateThePlatformDoesNotKeep(t *testing.T) {
	w, _, o := extendedWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("ci-dns", zoneB))
	w.TokenWriter, o.taken = &forgetfulOffice{o}, nil
	report, _ := w.run(sweep)
	if report.Count(NonConvergent) != 1 || len(report.Results[0].Left) != 1 || report.Results[0].Left[0].Path != "policies" {
		t.Errorf("results %v", outcomes(report))
	}
	o.wantTaken(t, "list", "put", "get")
	report, _ = w.run(sweep)
	if got := refusals(report); !slices.Equal(got, []string{"non_convergent"}) {
		t.Errorf("refused %v", got)
	}
	o.wantTaken(t, "list")
	w.TokenWriter = o
	retry := sweep
	retry.Retry = true
	w.converge(retry)
}

// forgetfulOffice takes every update and keeps none.
type forgetfulOffice struct{ *office }

func (s *forgetfulOffice) UpdateToken(ctx context.Context, id edge.TokenID, _ edge.Token) (edge.Token, error) {
	token, err := s.Platform.UserToken(ctx, id)
	return token, s.note("put", err)
}

func TestTokenRevokedElsewhere(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneB))
	w.converge(sweep)
	first := s.live.Records[0]
	if err := o.Platform.DeleteToken(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	o.taken = nil
	w.converge(sweep) // it is too young to be missed
	o.wantTaken(t, "list", "get")
	w.clock.advance(youngFor)
	report, _ := w.converge(sweep)
	o.wantTaken(t, "list", "get", "create")
	c := tokenChanges(report.Plan)
	if len(c) != 1 || c[0].Action != diff.ActionReplace || c[0].Fields[len(c[0].Fields)-1].Note != "the platform no longer has it" {
		t.Errorf("changes %+v", c)
	}
	if got := o.made(); !slices.Equal(got, []string{"a", "b"}) || len(s.live.Records) != 2 {
		t.Errorf("made %v, on record %d", got, len(s.live.Records))
	}
}

// A credential of another user sees none of our tokens. That must not double
// them.
func TestListWithoutAnyOfOurTokens(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneB))
	w.converge(sweep)
	for _, r := range s.live.Records {
		if err := o.Platform.DeleteToken(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	o.taken = nil
	w.clock.advance(youngFor)
	report, _ := w.run(sweep)
	if p := report.Plan.Problems; len(p) != 2 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "none of the tokens on record (2)") {
		t.Errorf("problems %+v", p)
	}
	o.wantTaken(t, "list", "get", "get")
	if len(s.live.Records) != 2 {
		t.Error("records were dropped")
	}
}

func TestPruneDeletes(t *testing.T) {
	w, s, o := extendedWorld(t)
	kept, pruned := token("kept", zoneA), token("pruned", zoneA)
	pruned.Prune = true
	pushTokens(w, "c1", kept, pruned)
	w.converge(sweep)
	w.converge(sweep) // what the declarations say of deletion is on record now
	pushTokens(w, "c2")
	o.taken = nil
	report, _ := w.converge(sweep)
	o.wantTaken(t, "list", "delete")
	if c := tokenChanges(report.Plan); len(c) != 2 || c[0].Action != diff.ActionOrphan || c[1].Action != diff.ActionDelete || c[1].Direction != diff.Strengthens {
		t.Errorf("changes %+v", c)
	}
	if got := o.made(); !slices.Equal(got, []string{"kept"}) || len(s.live.Records) != 1 {
		t.Errorf("made %v", got)
	}
}

// What the newest declaration says of deletion holds for earlier tokens too.
func TestPruneIsWithdrawn(t *testing.T) {
	w, s, o := extendedWorld(t)
	pruned := token("ci-dns", zoneA)
	pruned.Prune = true
	pushTokens(w, "c1", pruned)
	w.converge(sweep)
	pruned.Prune, pruned.Sink = false, &desired.Sink{Name: "ci", Key: "elsewhere"}
	pushTokens(w, "c2", pruned)
	w.converge(sweep)
	w.converge(sweep)
	pushTokens(w, "c3")
	w.converge(sweep)
	if got := o.made(); len(got) != 2 {
		t.Errorf("made %v", got)
	}
	if s.live.Records[0].Prune || s.live.Records[1].Prune {
		t.Errorf("on record %+v", s.live.Records)
	}
}

func TestDeletionOfUnknownOutcome(t *testing.T) {
	w, s, o := extendedWorld(t)
	pruned := token("pruned", zoneA)
	pruned.Prune = true
	pushTokens(w, "c1", pruned)
	w.converge(sweep)
	w.converge(sweep)
	pushTokens(w, "c2")
	o.answer = func(call string) error {
		if call == "delete" {
			return errLost
		}
		return nil
	}
	w.converge(sweep)
	if len(o.made()) != 0 || len(s.live.Records) != 0 {
		t.Errorf("made %v, on record %v", o.made(), s.live.Records)
	}
}

// A creation whose answer was lost is found by the attempt in its name: whether
// it took effect or not, one token exists in the end, and its secret works.
func TestLostCreationIsFound(t *testing.T) {
	for _, tookEffect := range []bool{true, false} {
		t.Run(fmt.Sprint("took effect: ", tookEffect), func(t *testing.T) {
			w, s, o := extendedWorld(t)
			pushTokens(w, "c1", token("ci-dns", zoneA))
			o.answer = func(call string) error {
				if call == "create" {
					return errLost
				}
				return nil
			}
			if report, _ := w.run(sweep); report.Count(Quarantined) != 1 {
				t.Fatalf("results %v", outcomes(report))
			}
			o.answer = nil
			if !tookEffect {
				for _, token := range o.Tokens() {
					if strings.Contains(token.Name, "ci-dns") {
						_ = o.Platform.DeleteToken(t.Context(), edge.TokenID(token.ID))
					}
				}
				w.clock.advance(time.Minute)
				report, _ := w.run(sweep) // too early to say that it never came
				if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined || !strings.Contains(p[0].Hint, "the next run looks for it") {
					t.Errorf("problems %+v", p)
				}
				w.clock.advance(lateAfter)
			}
			o.taken = nil
			w.converge(sweep)
			if tookEffect {
				o.wantTaken(t, "list", "roll")
			} else {
				o.wantTaken(t, "list", "create")
			}
			if got := o.made(); !slices.Equal(got, []string{"ci-dns"}) || len(s.live.Records) != 1 || !s.live.Records[0].Delivered {
				t.Fatalf("made %v, on record %+v", got, s.live.Records)
			}
			owner, _, ok := o.TokenByValue(edge.NewSecret(s.sunk["ci-dns"]))
			if !ok || owner.ID != string(s.live.Records[0].ID) {
				t.Error("the delivered secret does not work")
			}
		})
	}
}

// Somebody renamed it in the meantime, and the attempt is still in its name.
func TestLostCreationIsFoundRenamed(t *testing.T) {
	w, _, o := extendedWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	o.answer = func(call string) error {
		if call == "create" {
			return errLost
		}
		return nil
	}
	w.run(sweep)
	o.answer = nil
	for _, lost := range o.Tokens() {
		if strings.HasPrefix(lost.Name, "ci-dns [") {
			spec := token("ci-dns", zoneA).Spec()
			spec.Name = "do not touch " + strings.TrimPrefix(lost.Name, "ci-dns")
			if _, err := o.Platform.UpdateToken(t.Context(), edge.TokenID(lost.ID), edge.Token{TokenSpec: spec}); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.clock.advance(time.Hour)
	o.taken = nil
	w.converge(sweep)
	o.wantTaken(t, "list", "groups", "verify", "roll", "put", "get")
	w.converge(sweep)
	if got := o.made(); !slices.Equal(got, []string{"ci-dns"}) {
		t.Errorf("made %v", got)
	}
}

// Without the attempt in the name nothing tells the token from another one.
func TestLostCreationWithoutNameStaysQuarantined(t *testing.T) {
	w, _, o := extendedWorld(t)
	w.NameSuffix = ""
	pushTokens(w, "c1", token("ci-dns", zoneA))
	o.answer = func(call string) error {
		if call == "create" {
			return errLost
		}
		return nil
	}
	w.run(sweep)
	o.answer = nil
	w.clock.advance(time.Hour)
	report, _ := w.run(sweep)
	if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined {
		t.Errorf("problems %+v", p)
	}
}

// A plan looks and changes nothing, neither there nor on record.
func TestPlanOfExtendedOnlyReads(t *testing.T) {
	w, s, o := extendedWorld(t)
	pruned := token("pruned", zoneA)
	pruned.Prune = true
	pushTokens(w, "c1", pruned, token("ci-dns", zoneA))
	o.answer = func(call string) error {
		if call == "create" && len(o.taken) == 4 {
			return errLost
		}
		return nil
	}
	w.run(sweep)
	o.answer = nil
	pushTokens(w, "c2", token("ci-dns", zoneB))
	o.taken, s.taken = nil, nil
	order := sweep
	order.PlanOnly = true
	w.run(order)
	o.wantTaken(t, "list")
	if len(s.taken) != 0 {
		t.Errorf("took %v", s.taken)
	}
}

func TestTokensThatCannotBeListed(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"down":      {errDown, "could not be listed"},
		"forbidden": {errForbidden, "could not be listed"},
		"rejected":  {errUnauthenticated, "does not accept credentials.tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, o := extendedWorld(t)
			pushTokens(w, "c1", token("ci-dns", zoneA))
			o.answer = func(call string) error { return c.err }
			report, calls := w.run(sweep)
			o.wantTaken(t, "list")
			if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, c.want) || p[0].Hint == "" {
				t.Errorf("problems %+v", p)
			}
			if stopped := errors.Is(report.Err, edge.ErrUnauthenticated); stopped != (name == "rejected") {
				t.Errorf("error %v", report.Err)
			}
			if writes(calls) != 1 {
				t.Errorf("the zone was not written: %v", calls)
			}
		})
	}
}

// A platform without these calls is what the reference shows, whatever the
// configuration says.
func TestPlatformThatDoesNotListTokens(t *testing.T) {
	w, s := tokenWorld(t)
	documented, err := mem.New(mem.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w.TokenReader, w.TokenWriter = documented, documented
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	w.converge(sweep)
	if len(s.existing) != 1 {
		t.Errorf("%d exist", len(s.existing))
	}
}

func TestGroupsByNameAreResolved(t *testing.T) {
	w, _, o := extendedWorld(t)
	named := token("ci-dns", zoneA)
	named.Policies[0].PermissionGroups = []desired.PermissionGroup{{Name: "DNS Write", Scope: "zone"}}
	pushTokens(w, "c1", named)
	w.converge(sweep)
	w.converge(sweep)
	o.wantTaken(t, "list", "groups", "verify", "create", "list")
	named.Policies[0].PermissionGroups = []desired.PermissionGroup{{ID: dnsGroup}}
	pushTokens(w, "c2", named)
	if report, _ := w.converge(sweep); len(tokenChanges(report.Plan)) != 0 {
		t.Errorf("the same group by its id is a change: %+v", tokenChanges(report.Plan))
	}
}

// A token that somebody ends before its secret was delivered has no secret that
// is worth delivering.
func TestUndeliveredTokenIsRevokedElsewhere(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneB))
	s.fail["deliver"] = errors.New("the sink is down")
	w.run(sweep)
	delete(s.fail, "deliver")
	w.clock.advance(youngFor)
	if err := o.Platform.DeleteToken(t.Context(), s.live.Records[0].ID); err != nil {
		t.Fatal(err)
	}
	w.converge(sweep)
	if got := o.made(); !slices.Equal(got, []string{"a", "b"}) || len(s.live.Records) != 2 {
		t.Errorf("made %v, on record %d", got, len(s.live.Records))
	}
}

// Where the token in use is ended and its successor cannot be made at once, an
// earlier token does not pass for the one in use: its secret was replaced.
func TestRevokedTokenIsNotSucceededByAnEarlierOne(t *testing.T) {
	w, s, o := extendedWorld(t)
	w.TokenReader, w.TokenWriter = nil, nil // so that a change makes another token
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("ci-dns", zoneB))
	w.converge(sweep)
	w.TokenReader, w.TokenWriter = o, o
	w.clock.advance(youngFor)
	if err := o.Platform.DeleteToken(t.Context(), s.live.Records[1].ID); err != nil {
		t.Fatal(err)
	}
	s.fail["intend"] = errors.New("disk full")
	w.run(sweep)
	delete(s.fail, "intend")
	w.converge(sweep)
	if _, _, ok := o.TokenByValue(edge.NewSecret(s.sunk["ci-dns"])); !ok {
		t.Error("the delivered secret does not work")
	}
}
