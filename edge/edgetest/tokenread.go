package edgetest

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

func listHasTokens(t tester) {
	before := t.list()
	first, secret := t.make(aSpec("first"))
	second, _ := t.make(aSpec("second"))
	after := t.list()
	if t.TokenCount != nil && len(after) != t.tokenCount() || len(after) < len(before)+2 {
		t.Errorf("the list has %d tokens, of %d; %d before two were made", len(after), t.tokenCount(), len(before))
	}
	seen := map[edge.TokenID]bool{}
	for _, token := range after {
		if seen[token.ID] || token.ID == "" || token.Status == "" {
			t.Errorf("the list has %q, status %q, once more: %v", token.ID, token.Status, seen[token.ID])
		}
		seen[token.ID] = true
	}
	for _, old := range before {
		if !seen[old.ID] {
			t.Errorf("the list lost %s", old.ID)
		}
	}
	if !seen[first.ID] || !seen[second.ID] {
		t.Errorf("the list lacks a token that was made: %v", seen)
	}
	if !secret.IsZero() && strings.Contains(text(after), secret.Reveal()) {
		t.Error("the list tells a secret")
	}
}

func tokenReadsAsListed(t tester) {
	spec := aSpec("ci")
	spec.Policies[0].PermissionGroups = append(spec.Policies[0].PermissionGroups, edge.PermissionGroup{ID: t.groups()[0].ID})
	made, _ := t.make(spec)
	list := t.list()
	for _, listed := range list {
		t.same("token "+string(listed.ID), inOrder(listed), inOrder(t.read(listed.ID)))
	}
	i := slices.IndexFunc(list, func(token edge.Token) bool { return token.ID == made.ID })
	if i < 0 {
		t.Fatalf("the list lacks %s", made.ID)
	}
	t.same("the token", inOrder(made), inOrder(list[i]))
}

// What was created is what is read, in every form that a token can have.
func tokenHasItsSpec(t tester) {
	spec := everything(t)
	for i, filter := range []*edge.AddressFilter{
		bothFilters, {NotIn: []string{"192.0.2.7/32"}}, {In: []string{}}, {}, nil,
	} {
		spec.Name = "everything " + strings.Repeat("i", i+1)
		spec.Condition = &edge.Condition{RequestIP: filter}
		if filter == nil {
			spec.Condition, spec.NotBefore, spec.ExpiresOn = nil, "", ""
		}
		made, _ := t.make(spec)
		t.same("what the token is", meant(spec), meant(made.TokenSpec))
		if made.IssuedOn == "" || made.Status != "active" {
			t.Errorf("issued on %q, status %q", made.IssuedOn, made.Status)
		}
	}
}

func (t tester) groups() []edge.PermissionGroup {
	t.Helper()
	groups, err := t.Tokens.PermissionGroups(t.Context())
	t.must(err)
	if len(groups) == 0 {
		t.Fatal("there is no permission group")
	}
	return groups
}

// Names are not unique, so a group is known by name and scope; and what the list
// says of a group a token's policy says too.
func groupsHaveNames(t tester) {
	seen := map[string]bool{}
	spec := aSpec("groups")
	spec.Policies[0].PermissionGroups = nil
	spec.Policies[0].Resources[edge.ResourceAllAccounts] = edge.Breadth{}
	if t.User != "" {
		spec.Policies[0].Resources[edge.ResourceUser+t.User] = edge.Breadth{}
	}
	byID := map[string]edge.PermissionGroup{}
	for _, g := range t.groups() {
		if g.ID == "" || g.Name == "" || len(g.Scopes) == 0 || seen[g.ID] || seen[g.Name+text(g.Scopes)] {
			t.Errorf("got %+v, seen before: %v", g, seen[g.ID])
		}
		for _, scope := range g.Scopes {
			if !strings.HasPrefix(scope, "com.vendor.api.") {
				t.Errorf("the scope %q is in a platform's own spelling", scope)
			}
		}
		seen[g.ID], seen[g.Name+text(g.Scopes)] = true, true
		byID[g.ID] = g
		spec.Policies[0].PermissionGroups = append(spec.Policies[0].PermissionGroups, edge.PermissionGroup{ID: g.ID})
	}
	made, _ := t.make(spec)
	for _, p := range made.Policies {
		for _, g := range p.PermissionGroups {
			if p.Effect == edge.Allow && !sameGroup(g, byID[g.ID]) {
				t.Errorf("in a policy %+v, in the list %+v", g, byID[g.ID])
			}
		}
	}
}

// sameGroup reports whether a policy says of a group what the list does. The vendor has no scopes
// there.
func sameGroup(inPolicy, listed edge.PermissionGroup) bool {
	return inPolicy.Name == listed.Name && (len(inPolicy.Scopes) == 0 || text(inPolicy.Scopes) == text(listed.Scopes))
}

func credentialKnowsItself(t tester) {
	own, err := t.Tokens.VerifyToken(t.Context())
	t.must(err)
	if own.Status != "active" || t.read(own.ID).ID != own.ID {
		t.Errorf("got %+v", own)
	}
	made, secret := t.make(aSpec("ci"))
	if t.SignIn == nil || secret.IsZero() {
		return
	}
	known, err := t.SignIn(secret).VerifyToken(t.Context())
	t.must(err)
	if known.ID != made.ID || known.Status != "active" || known.NotBefore != made.NotBefore || known.ExpiresOn != made.ExpiresOn {
		t.Errorf("got %+v, want %+v", known, made)
	}
}

func overTokenSaysSo(t tester) {
	spec := aSpec("over")
	spec.NotBefore, spec.ExpiresOn = "2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z"
	if t.Strict {
		_, err := t.tryCreate(spec)
		t.wantIs(err, edge.ErrInvalid, edge.ErrOutcomeUnknown)
		t.wantPointer(err, "/expires_on")
		return
	}
	made, secret := t.make(spec)
	if made.Status != "expired" {
		t.Errorf("got status %q", made.Status)
	}
	t.wantSignIn(secret, false)
	// It is the window that is over, not the token.
	spec.ExpiresOn = "2120-01-01T00:00:00Z"
	if after := t.updateToken(made, spec); after.Status != "active" {
		t.Errorf("got status %q after the window was moved", after.Status)
	}
	t.wantSignIn(secret, true)
}

func tokensAreCopies(t tester) {
	spec := aSpec("ci")
	spec.Condition = &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}}
	made, _ := t.make(spec)
	want := text(inOrder(made))
	for range 2 {
		got := t.read(made.ID)
		if text(inOrder(got)) != want {
			t.Fatalf("got  %s\nwant %s", text(got), want)
		}
		got.Policies[0].Resources["com.vendor.api.mine"] = edge.Breadth{}
		got.Policies[0].PermissionGroups[0].ID = "mine"
		got.Policies[0].ID = "mine"
		got.Condition.RequestIP.In[0] = "mine"
		groups := t.groups()
		groups[0].Scopes[0] = "mine"
		if t.groups()[0].Scopes[0] == "mine" {
			t.Error("a scope is shared")
		}
	}
}
