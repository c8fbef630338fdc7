package edgetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// make creates a token and reads it. The name must be the only one: where no
// write is answered the token is found by it, and has no secret that anybody
// knows. Attempts of unknown outcome may have left others.
func (t tester) make(spec edge.TokenSpec) (edge.Token, edge.Secret) {
	t.Helper()
	created, ok := t.create(spec)
	if ok {
		return t.read(created.ID), created.Value
	}
	list := t.list()
	i := slices.IndexFunc(list, func(token edge.Token) bool { return token.Name == spec.Name })
	if i < 0 {
		t.Fatalf("no token %s exists", spec.Name)
	}
	return list[i], edge.Secret{}
}

func (t tester) list() []edge.Token {
	t.Helper()
	list, err := t.Tokens.UserTokens(t.Context())
	t.must(err)
	return list
}

func (t tester) read(id edge.TokenID) edge.Token {
	t.Helper()
	token, err := t.Tokens.UserToken(t.Context(), id)
	t.must(err)
	return token
}

// tryUpdateToken updates a token as a caller has to: where the outcome is
// unknown it reads, and tries again only where nothing was written. What was
// written has other ids of policies than before.
func (t tester) tryUpdateToken(before edge.Token, body edge.Token) (edge.Token, error) {
	t.Helper()
	for range maxUpdates {
		answer, err := t.Tokens.UpdateToken(t.Context(), before.ID, body)
		switch {
		case errors.Is(err, edge.ErrOutcomeUnknown):
			if now := t.read(before.ID); !slices.Equal(policyIDs(now), policyIDs(before)) {
				return now, nil
			}
		case errors.Is(err, edge.ErrThrottled):
		default:
			return answer, err
		}
	}
	t.Fatalf("no update of token %s came through in %d attempts", before.ID, maxUpdates)
	return edge.Token{}, nil
}

// updateToken makes a token what spec says, and reads it.
func (t tester) updateToken(before edge.Token, spec edge.TokenSpec) edge.Token {
	t.Helper()
	answer, err := t.tryUpdateToken(before, before.Update(spec))
	t.must(err)
	after := t.read(before.ID)
	t.same("the answer of the update", inOrder(after), inOrder(answer))
	return after
}

// deleteToken ends a token, as often as it takes.
func (t tester) deleteToken(id edge.TokenID) {
	t.Helper()
	for i := range maxUpdates {
		err := t.Tokens.DeleteToken(t.Context(), id)
		switch {
		case err == nil, i > 0 && errors.Is(err, edge.ErrNotFound):
			return
		case !passes(err):
			t.Fatal(err)
		}
	}
	t.Fatalf("no deletion of token %s came through in %d attempts", id, maxUpdates)
}

// roll gives a token another secret, as often as it takes; no one knows it where
// no write is answered.
func (t tester) roll(id edge.TokenID) edge.Secret {
	t.Helper()
	for range maxUpdates {
		secret, err := t.Tokens.RollToken(t.Context(), id)
		if err == nil {
			return secret
		}
		if !secret.IsZero() {
			t.Errorf("an error came with a secret: %v", err)
		}
		if t.Mute && errors.Is(err, edge.ErrOutcomeUnknown) {
			return edge.Secret{}
		}
		if !passes(err) {
			t.Fatal(err)
		}
	}
	t.Fatalf("no roll of token %s came through in %d attempts", id, maxUpdates)
	return edge.Secret{}
}

// wantSignIn holds a secret to whether it works. Where no one signs in, or no one
// knows the secret, there is nothing to say.
func (t tester) wantSignIn(secret edge.Secret, works bool) {
	t.Helper()
	if t.SignIn == nil || secret.IsZero() {
		return
	}
	signedIn := t
	signedIn.Platform = t.SignIn(secret)
	_, err := signedIn.patiently(t.Zone)
	if works {
		if !t.Strict || !errors.Is(err, edge.ErrForbidden) { // a token of the suite may do next to nothing there
			t.must(err)
		}
		return
	}
	t.wantIs(err, edge.ErrUnauthenticated)
}

func policyIDs(token edge.Token) []string {
	var ids []string
	for _, p := range token.Policies {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return ids
}

// inOrder is a token with its policies and their groups in the order of ids: a
// platform keeps none.
func inOrder(token edge.Token) edge.Token {
	token.Policies = slices.Clone(token.Policies)
	slices.SortFunc(token.Policies, func(a, b edge.Policy) int { return strings.Compare(a.ID, b.ID) })
	for i := range token.Policies {
		groups := slices.Clone(token.Policies[i].PermissionGroups)
		slices.SortFunc(groups, func(a, b edge.PermissionGroup) int { return strings.Compare(a.ID, b.ID) })
		token.Policies[i].PermissionGroups = groups
	}
	return token
}

// meant is what a spec asks for: without what a platform fills in, policies in
// the order of what they say.
func meant(spec edge.TokenSpec) edge.TokenSpec {
	spec.Policies = slices.Clone(spec.Policies)
	for i, p := range spec.Policies {
		var groups []edge.PermissionGroup
		for _, g := range p.PermissionGroups {
			groups = append(groups, edge.PermissionGroup{ID: g.ID})
		}
		slices.SortFunc(groups, func(a, b edge.PermissionGroup) int { return strings.Compare(a.ID, b.ID) })
		spec.Policies[i] = edge.Policy{Effect: p.Effect, Resources: p.Resources, PermissionGroups: groups}
	}
	slices.SortFunc(spec.Policies, func(a, b edge.Policy) int { return strings.Compare(text(a), text(b)) })
	return spec
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
