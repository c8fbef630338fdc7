package edgetest

import (
	"context"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

func updateReplacesToken(t tester) {
	made, _ := t.make(aSpec("ci"))
	others := t.list()
	spec := edge.TokenSpec{
		Name: "cd", NotBefore: "2021-01-01T00:00:00Z", ExpiresOn: "2121-01-01T00:00:00Z",
		Policies: []edge.Policy{
			aPolicy(edge.Allow, edge.ResourceZone+t.Zone.String()), aPolicy(edge.Allow, edge.ResourceAllAccounts), aPolicy(edge.Deny, edge.ResourceAllZones),
		},
		Condition: &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}, NotIn: []string{"192.0.2.7/32"}}},
	}
	after := t.updateToken(made, spec)
	t.same("what the token is", meant(spec), meant(after.TokenSpec))
	if after.ID != made.ID || after.IssuedOn != made.IssuedOn || after.ModifiedOn == "" {
		t.Errorf("was %+v, is %+v", made, after)
	}
	for _, id := range policyIDs(after) {
		if id == "" || slices.Contains(policyIDs(made), id) {
			t.Errorf("a policy kept the id %q", id)
		}
	}
	for _, other := range others {
		if other.ID != made.ID {
			t.same("another token", inOrder(other), inOrder(t.read(other.ID)))
		}
	}
}

// A token that lost its condition or its end works for more: whoever updates one
// has to send the whole of it.
func updateDropsWhatIsLeftOut(t tester) {
	spec := aSpec("ci")
	spec.Condition = &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}}
	made, _ := t.make(spec)
	less := edge.TokenSpec{Name: "ci", Policies: spec.Policies[:1]}
	after := t.updateToken(made, less)
	t.same("what the token is", meant(less), meant(after.TokenSpec))
	if after.Condition != nil || after.NotBefore != "" || after.ExpiresOn != "" {
		t.Errorf("kept %+v", after.TokenSpec)
	}
}

func updateKeepsStatusAndSecret(t tester) {
	made, secret := t.make(aSpec("ci"))
	after := t.updateToken(made, aSpec("cd"))
	if after.Status != made.Status {
		t.Errorf("status %q became %q", made.Status, after.Status)
	}
	t.wantSignIn(secret, true)
	bare, err := t.tryUpdateToken(after, edge.Token{TokenSpec: aSpec("ce")})
	t.must(err)
	if bare.Status != made.Status || t.read(made.ID).Name != "ce" {
		t.Errorf("an update without a status made it %+v", bare)
	}
	t.wantSignIn(secret, true)
}

func tokenIsSwitchedOff(t tester) {
	made, secret := t.make(aSpec("ci"))
	for _, status := range []string{"disabled", "active"} {
		before := t.read(made.ID)
		body := before.Update(before.TokenSpec)
		body.TokenSpec = meant(body.TokenSpec)
		body.Status = status
		_, err := t.tryUpdateToken(before, body)
		t.must(err)
		if after := t.read(made.ID); after.Status != status {
			t.Errorf("status %q, want %q", after.Status, status)
		}
		t.wantSignIn(secret, status == "active")
		if kept := t.updateToken(t.read(made.ID), aSpec("still "+status)); kept.Status != status {
			t.Errorf("an update made a token %s that was %s", kept.Status, status)
		}
	}
}

func rollGivesAnotherSecret(t tester) {
	made, first := t.make(aSpec("ci"))
	known := []edge.Secret{first}
	for range 3 {
		next := t.roll(made.ID)
		for _, old := range known {
			if !next.IsZero() && old.Equal(next) {
				t.Error("a secret came back")
			}
			t.wantSignIn(old, false)
		}
		t.wantSignIn(next, true)
		known = append(known, next)
	}
	after := t.read(made.ID)
	after.ModifiedOn = made.ModifiedOn
	t.same("the token", inOrder(made), inOrder(after))
}

func deletedTokenIsGone(t tester) {
	kept, keptSecret := t.make(aSpec("kept"))
	gone, goneSecret := t.make(aSpec("gone"))
	before := t.tokenCount()
	t.deleteToken(gone.ID)
	if t.TokenCount != nil && t.tokenCount() != before-1 {
		t.Errorf("%d tokens became %d", before, t.tokenCount())
	}
	_, readErr := t.Tokens.UserToken(t.Context(), gone.ID)
	t.wantIs(readErr, edge.ErrNotFound, edge.ErrNotOffered)
	for _, token := range t.list() {
		if token.ID == gone.ID {
			t.Error("the list still has it")
		}
	}
	t.same("the other token", inOrder(kept), inOrder(t.read(kept.ID)))
	t.wantSignIn(keptSecret, true)
	t.wantSignIn(goneSecret, false)
}

// A token of the same name is another token, with another secret.
func deletedTokenStaysGone(t tester) {
	first, firstSecret := t.make(aSpec("ci"))
	t.deleteToken(first.ID)
	for _, left := range t.list() { // attempts whose answers were lost
		if left.Name == "ci" {
			t.deleteToken(left.ID)
		}
	}
	second, secondSecret := t.make(aSpec("ci"))
	if first.ID == second.ID || !firstSecret.IsZero() && firstSecret.Equal(secondSecret) {
		t.Errorf("token %s came back as %s", first.ID, second.ID)
	}
	t.wantSignIn(firstSecret, false)
	t.wantSignIn(secondSecret, true)
}

func unknownToken(t tester) {
	before := text(t.list())
	for name, call := range tokenCalls(t.Context(), t.Tokens, nowhere) {
		if name == "list" || name == "verify" || name == "groups" {
			continue
		}
		t.wantIs(patient(call), edge.ErrNotFound, edge.ErrNotOffered, edge.ErrOutcomeUnknown, edge.ErrInvalid)
	}
	if after := text(t.list()); after != before {
		t.Errorf("the tokens changed:\n%s\n%s", before, after)
	}
}

func unfitUpdates(t tester) {
	made, _ := t.make(aSpec("ci"))
	refused := func(body edge.Token, pointer string) {
		_, err := t.tryUpdateToken(made, body)
		t.wantIs(err, edge.ErrInvalid, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrNotFound)
		t.wantPointer(err, pointer)
		t.same("the token", inOrder(made), inOrder(t.read(made.ID)))
	}
	for _, u := range unfit {
		t.Log(u.name)
		spec := aSpec("unfit")
		u.spoil(&spec)
		refused(made.Update(spec), u.pointer)
	}
	t.Log("another status")
	body := made.Update(aSpec("unfit"))
	body.Status = "sleeping"
	refused(body, "/status")
}

func tokenCallsEndWithContext(t tester) {
	made, _ := t.make(aSpec("ci"))
	for _, call := range tokenCalls(t.ended(), t.Tokens, made.ID) {
		t.wantIs(call(), context.Canceled, edge.ErrOutcomeUnknown)
	}
	t.same("the token", inOrder(made), inOrder(t.read(made.ID)))
}

func wrongCredentialTouchesNoToken(t tester) {
	made, secret := t.make(aSpec("ci"))
	for _, call := range tokenCalls(t.Context(), t.Denied, made.ID) {
		err := patient(call)
		t.wantIs(err, edge.ErrUnauthenticated, edge.ErrNotFound, edge.ErrNotOffered, edge.ErrOutcomeUnknown)
		var described *edge.Error
		if !errors.As(err, &described) {
			t.Errorf("the error carries no status and code: %v", err)
		}
	}
	t.same("the token", inOrder(made), inOrder(t.read(made.ID)))
	t.wantSignIn(secret, true)
}
