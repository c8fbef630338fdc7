package mem_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func valueOf[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		must.Do(t, err)
		return value
	}
}

func TestProfileIsChecked(t *testing.T) {
	if _, err := mem.New(mem.Config{Profile: "premium"}); err == nil || !strings.Contains(err.Error(), `"premium" is not one of documented, extended, vendor`) {
		t.Errorf("got %v", err)
	}
}

// Everything that has an order comes the other way round, and is the same.
func TestReorderTurnsListsPoliciesAndGroups(t *testing.T) {
	body := `{"name":"ci","policies":[` + strings.Replace(aPolicy, `{"id":"g"}`, `{"id":"g"},{"id":"h"}`, 1) + `,` + aDeny + `]}`
	plain, turned := extended(t), extended(t, "reorder")
	id := create(t, plain, body).ID
	create(t, turned, body)
	straight, reversed := valueOf[[]edge.Token](t)(plain.UserTokens(t.Context())), valueOf[[]edge.Token](t)(turned.UserTokens(t.Context()))
	if cmp.Equal(straight, reversed) || reversed[0].ID != id {
		t.Errorf("the list is in the same order: %v", reversed)
	}
	slices.Reverse(reversed)
	for i := range reversed {
		slices.Reverse(reversed[i].Policies)
		for _, p := range reversed[i].Policies {
			slices.Reverse(p.PermissionGroups)
		}
	}
	if diff := cmp.Diff(straight, reversed); diff != "" {
		t.Error(diff)
	}
	groups, back := valueOf[[]edge.PermissionGroup](t)(plain.PermissionGroups(t.Context())), valueOf[[]edge.PermissionGroup](t)(turned.PermissionGroups(t.Context()))
	slices.Reverse(back)
	if diff := cmp.Diff(groups, back); diff != "" {
		t.Error(diff)
	}
}

// A member that only the platform knows stays when it is sent back, and is
// dropped when it is not. Nobody can add one, or write what the platform writes.
func TestUpdateAndMembersNobodyKnows(t *testing.T) {
	seed := mem.DefaultSeed()
	seed.Tokens = append(seed.Tokens, mem.SeedToken{
		ID: "t", Name: "ci", Value: "the-secret", IssuedOn: "2025-01-01T00:00:00Z", LastUsedOn: "2025-02-01T00:00:00Z",
		Policies: json.RawMessage(`[` + aPolicy + `]`), Extra: map[string]json.RawMessage{"provisioner_id": json.RawMessage(`null`), "number": json.RawMessage(`12345678901234567890`)},
	})
	p := start(t, mem.Config{Seed: seed, Profile: mem.Extended})
	live := valueOf[edge.Token](t)(p.UserToken(t.Context(), "t"))
	if diff := cmp.Diff(seed.Tokens[2].Extra, live.Extra); diff != "" || live.LastUsedOn == "" {
		t.Errorf("%s %+v", diff, live)
	}
	kept := valueOf[edge.Token](t)(p.UpdateTokenJSON(t.Context(), "t", []byte(
		`{"name":"ci","policies":[`+aPolicy+`],"number":12345678901234567890,"mine":1,"id":"u","issued_on":"x","modified_on":7,"last_used_on":"y","value":"z"}`)))
	if string(kept.Extra["number"]) != "12345678901234567890" || len(kept.Extra) != 1 {
		t.Errorf("kept %v", kept.Extra)
	}
	if kept.ID != "t" || kept.IssuedOn != live.IssuedOn || kept.LastUsedOn != live.LastUsedOn || p.Tokens()[2].Value != "the-secret" {
		t.Errorf("kept %+v", kept)
	}
}

func TestExtraOfASeedHasItsOwnMembers(t *testing.T) {
	for _, extra := range []string{`{"name":"x"}`, `{"value":"x"}`, `{"policies":[]}`} {
		if _, err := mem.ReadSeed(strings.NewReader(`{"tokens":[{"id":"a","extra":` + extra + `}]}`)); err == nil || !strings.Contains(err.Error(), "token a: extra: ") {
			t.Errorf("%s: %v", extra, err)
		}
	}
	if _, err := mem.ReadSeed(strings.NewReader(`{"tokens":[{"id":"a","extra":{"owner":null}}]}`)); err != nil {
		t.Error(err)
	}
}

// The clock says that a token is expired. Nobody sets it, and to send it back
// says nothing.
func TestStatusAndTheClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seed := mem.DefaultSeed()
	for _, status := range []string{"", "active", "disabled", "revoked"} {
		seed.Tokens = append(seed.Tokens, mem.SeedToken{ID: "t" + status, Status: status, ExpiresOn: "2026-01-01T00:00:01Z"})
	}
	p := start(t, mem.Config{Seed: seed, Profile: mem.Extended, Now: func() time.Time { return now }})
	want := map[edge.TokenID][2]string{"t": {"active", "expired"}, "tactive": {"active", "expired"}, "tdisabled": {"disabled", "disabled"}, "trevoked": {"revoked", "revoked"}}
	for i := range 2 {
		for id, statuses := range want {
			if got := valueOf[edge.Token](t)(p.UserToken(t.Context(), id)); got.Status != statuses[i] {
				t.Errorf("%s: %q, want %q", id, got.Status, statuses[i])
			}
		}
		now = now.Add(time.Second)
	}
	for id, statuses := range want { // what was read goes back with a window that is not over
		got := valueOf[edge.Token](t)(p.UpdateTokenJSON(t.Context(), id, []byte(tokenBody(`,"expires_on":"2027-01-01T00:00:00Z","status":"`+statuses[1]+`"`))))
		if got.Status != statuses[0] {
			t.Errorf("%s: %q, want %q", id, got.Status, statuses[0])
		}
	}
	_, err := p.UpdateTokenJSON(t.Context(), "t", []byte(tokenBody(`,"status":"revoked"`)))
	_, typeErr := p.UpdateTokenJSON(t.Context(), "t", []byte(tokenBody(`,"status":7`)))
	for _, err := range []error{err, typeErr} {
		var e *edge.Error
		if !errors.As(err, &e) || e.Details[0].Source.Pointer != "/status" {
			t.Errorf("got %v", err)
		}
	}
}

// The credential that asks can be gone.
func TestVerifyWithoutATokenToAsk(t *testing.T) {
	p := extended(t)
	must.Do(t, p.DeleteToken(t.Context(), edge.TokenID(mem.DefaultTokens()[1].ID)))
	if _, err := p.VerifyToken(t.Context()); !errors.Is(err, edge.ErrUnauthenticated) {
		t.Errorf("got %v", err)
	}
}

// Law: however tokens are made, changed, rolled and ended, and the platform
// started again in between, no id, secret or id of a policy is ever there twice,
// and a secret is known to the platform exactly while it is the token's last.
func TestLawNothingOfATokenComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := start(t, mem.Config{Profile: mem.Extended})
		seen := map[string]bool{}
		secrets := map[edge.TokenID]edge.Secret{}
		var dead []edge.Secret
		once := func(text string) {
			if seen[text] {
				t.Fatalf("%q came back", text)
			}
			seen[text] = true
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			ids := make([]edge.TokenID, 0, len(secrets))
			for id := range secrets {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			step := "create"
			var id edge.TokenID
			if len(ids) > 0 {
				step = rapid.SampledFrom([]string{"create", "update", "roll", "delete", "restart"}).Draw(t, "step")
				id = rapid.SampledFrom(ids).Draw(t, "token")
			}
			switch step {
			case "create":
				made, err := p.CreateTokenJSON(t.Context(), []byte(tokenBody("")))
				must.Do(t, err)
				once(string(made.ID))
				once(made.Value.Reveal())
				once(made.Policies[0].ID)
				secrets[made.ID] = made.Value
			case "update":
				after, err := p.UpdateTokenJSON(t.Context(), id, []byte(tokenBody("")))
				must.Do(t, err)
				once(after.Policies[0].ID)
			case "roll":
				next, err := p.RollToken(t.Context(), id)
				must.Do(t, err)
				once(next.Reveal())
				dead, secrets[id] = append(dead, secrets[id]), next
			case "delete":
				must.Do(t, p.DeleteToken(t.Context(), id))
				dead = append(dead, secrets[id])
				delete(secrets, id)
			case "restart":
				p = start(t, mem.Config{Seed: p.State(), Profile: mem.Extended})
			}
		}
		for id, secret := range secrets {
			if token, _, ok := p.TokenByValue(secret); !ok || token.ID != string(id) {
				t.Fatalf("the secret of %s does not work", id)
			}
		}
		for _, secret := range dead {
			if _, _, ok := p.TokenByValue(secret); ok {
				t.Fatal("a dead secret works")
			}
		}
	})
}
