package edgetest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// maxCreations bounds how often a creation is tried.
const maxCreations = 10

// aSpec is a token that every platform takes.
func aSpec(name string) edge.TokenSpec {
	return edge.TokenSpec{Name: name, NotBefore: "2020-01-01T00:00:00Z", ExpiresOn: "2120-01-01T00:00:00Z", Policies: []edge.Policy{
		aPolicy(edge.Allow, edge.ResourceAllZones), aPolicy(edge.Deny, edge.ResourceAccount+nowhere),
	}}
}

func aPolicy(effect edge.Effect, resource string) edge.Policy {
	return edge.Policy{
		Effect: effect, Resources: map[string]edge.Breadth{resource: {}},
		PermissionGroups: []edge.PermissionGroup{{ID: "f00d"}, {ID: "beef"}},
	}
}

// tryCreate creates a token as often as it takes. No caller may do that where
// the outcome is unknown: each of those may have left a token behind, which does
// no harm here. Where tokens can be counted, each outcome is held to what exists.
func (t tester) tryCreate(spec edge.TokenSpec) (edge.CreatedToken, error) {
	t.Helper()
	for range maxCreations {
		before := t.tokenCount()
		created, err := t.Tokens.CreateToken(t.Context(), spec)
		made := t.tokenCount() - before
		switch {
		case t.TokenCount == nil:
		case err == nil && made != 1, errors.Is(err, edge.ErrOutcomeUnknown) && made > 1:
			t.Errorf("%d tokens were made, and the answer was %v", made, err)
		case err != nil && made != 0 && !errors.Is(err, edge.ErrOutcomeUnknown):
			t.Errorf("a token was made, and the error says there is none: %v", err)
		}
		if err == nil || !passes(err) {
			return created, err
		}
		if created.ID != "" || !created.Value.IsZero() {
			t.Errorf("an error came with a token: %v", err)
		}
		if t.Mute && errors.Is(err, edge.ErrOutcomeUnknown) {
			return created, err
		}
	}
	t.Fatalf("no creation came through in %d attempts", maxCreations)
	return edge.CreatedToken{}, nil
}

// passes: another attempt may go better.
func passes(err error) bool {
	return errors.Is(err, edge.ErrThrottled) || errors.Is(err, edge.ErrUnavailable) || errors.Is(err, edge.ErrOutcomeUnknown)
}

func (t tester) tokenCount() int {
	if t.TokenCount == nil {
		return 0
	}
	return t.TokenCount()
}

// create creates a token. It is false where no answer ever comes: all there is
// to say then is what tryCreate has held.
func (t tester) create(spec edge.TokenSpec) (edge.CreatedToken, bool) {
	t.Helper()
	created, err := t.tryCreate(spec)
	if t.Mute {
		t.wantIs(err, edge.ErrOutcomeUnknown)
		return created, false
	}
	t.must(err)
	return created, true
}

func creationAnswers(t tester) {
	spec := aSpec("ci")
	created, ok := t.create(spec)
	if !ok {
		return
	}
	if created.ID == "" || len(created.ID) > 32 || created.Value.IsZero() {
		t.Errorf("id %q, a value: %v", created.ID, !created.Value.IsZero())
	}
	if created.Name != spec.Name || created.NotBefore != spec.NotBefore || created.ExpiresOn != spec.ExpiresOn || created.Status == "" {
		t.Errorf("got %+v", created.Token)
	}
	data, err := json.Marshal(created)
	t.must(err)
	if strings.Contains(string(data), created.Value.Reveal()) || created.Extra["value"] != nil {
		t.Errorf("the record holds the secret")
	}
}

// Order means nothing, and ids are the platform's to give.
func creationKeepsPolicies(t tester) {
	spec := aSpec("ci")
	created, ok := t.create(spec)
	if !ok {
		return
	}
	effects := map[edge.Effect]edge.Policy{}
	for _, p := range created.Policies {
		if p.ID == "" {
			t.Errorf("a policy came without an id: %+v", p)
		}
		effects[p.Effect] = p
	}
	if len(created.Policies) != 2 || len(effects) != 2 {
		t.Fatalf("got policies %+v", created.Policies)
	}
	for _, want := range spec.Policies {
		got := effects[want.Effect]
		t.same("the resources", want.Resources, got.Resources)
		if len(got.PermissionGroups) != 2 {
			t.Errorf("got groups %+v", got.PermissionGroups)
		}
	}
}

// everything is a token for every form of resource but the calling user.
func everything(t tester) edge.TokenSpec {
	spec := aSpec("everything")
	spec.Policies[0].Resources = map[string]edge.Breadth{
		edge.ResourceAllAccounts: {}, edge.ResourceAllZones: {}, edge.ResourceAccount + string(t.Account): {AllZones: true},
		edge.ResourceAccount + nowhere: {}, edge.ResourceZone + t.Zone.String(): {},
	}
	return spec
}

var bothFilters = &edge.AddressFilter{In: []string{"192.0.2.0/24", "2001:db8::/32"}, NotIn: []string{"192.0.2.7/32"}}

func creationTakesAllForms(t tester) {
	spec := everything(t)
	if t.User != "" {
		spec.Policies[0].Resources[edge.ResourceUser+t.User] = edge.Breadth{}
	}
	want := maps.Clone(spec.Policies[0].Resources)
	spec.Condition = &edge.Condition{RequestIP: bothFilters}
	created, ok := t.create(spec)
	if !ok {
		return
	}
	t.same("the condition", spec.Condition, created.Condition)
	for _, p := range created.Policies {
		if p.Effect == edge.Allow {
			t.same("the resources", want, p.Resources)
		}
	}
}

func namesAreNotUnique(t tester) {
	first, ok := t.create(aSpec("twin"))
	second, okToo := t.create(aSpec("twin"))
	if !ok || !okToo {
		return
	}
	if first.ID == second.ID || first.Value.Equal(second.Value) || first.Name != second.Name {
		t.Errorf("two creations made %s and %s, the same secret: %v", first.ID, second.ID, first.Value.Equal(second.Value))
	}
}

func createdSecretWorks(t tester) {
	if t.SignIn == nil {
		t.Log("nobody signs in to this platform")
		return
	}
	created, ok := t.create(aSpec("ci"))
	if !ok {
		return
	}
	t.wantSignIn(created.Value, true)
	t.wantSignIn(edge.NewSecret(created.Value.Reveal()+"x"), false)
}

func creationEndsWithContext(t tester) {
	ctx := t.ended()
	before := t.tokenCount()
	created, err := t.Tokens.CreateToken(ctx, aSpec("late"))
	t.wantIs(err, context.Canceled, edge.ErrOutcomeUnknown)
	if !created.Value.IsZero() || t.tokenCount() != before {
		t.Errorf("a token was made: %+v", created)
	}
}

// However a creation ends, it has told once, and before there was a token.
func creationTellsBeforeItIsSent(t tester) {
	tells := telling{t.Tokens, t}
	t.Tokens = tells
	t.create(aSpec("ci"))
	ctx := t.ended()
	_, err := tells.Tokens.CreateToken(edge.BeforeSend(ctx, func() error {
		t.Error("told of a creation whose context had ended")
		return nil
	}), aSpec("late"))
	t.wantIs(err, context.Canceled)
}

// telling holds each creation to what it tells.
type telling struct {
	edge.Tokens
	t tester
}

func (c telling) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	before, told := c.t.tokenCount(), 0
	created, err := c.Tokens.CreateToken(edge.BeforeSend(ctx, func() error {
		if told++; c.t.tokenCount() != before {
			c.t.Error("a token exists before the creation is sent")
		}
		return nil
	}), spec)
	if told != 1 {
		c.t.Errorf("told %d times, want once", told)
	}
	return created, err
}

func creationHeldBack(t tester) {
	before, mine := t.tokenCount(), errors.New("the record could not be written")
	created, err := t.Tokens.CreateToken(edge.BeforeSend(t.Context(), func() error { return mine }), aSpec("ci"))
	t.wantIs(err, mine, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrThrottled)
	if !created.Value.IsZero() || t.tokenCount() != before {
		t.Errorf("a token was made: %+v", created)
	}
}

func wrongCredentialCreatesNothing(t tester) {
	t.Tokens = t.Denied
	_, err := t.tryCreate(aSpec("mine"))
	t.wantIs(err, edge.ErrUnauthenticated, edge.ErrOutcomeUnknown, edge.ErrInvalid)
}
