package edge

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// nothing is a platform that has no tokens at all.
type nothing struct{}

func (nothing) Offers(Call, Level) bool { return false }

func (nothing) CreateToken(context.Context, TokenSpec) (CreatedToken, error) {
	return CreatedToken{}, ErrNotOffered
}

func (nothing) UserTokens(context.Context) ([]Token, error) { return nil, ErrNotOffered }

func (nothing) UserToken(context.Context, TokenID) (Token, error) { return Token{}, ErrNotOffered }

func (nothing) VerifyToken(context.Context) (Token, error) { return Token{}, ErrNotOffered }

func (nothing) PermissionGroups(context.Context) ([]PermissionGroup, error) {
	return nil, ErrNotOffered
}

func (nothing) UpdateToken(context.Context, TokenID, Token) (Token, error) {
	return Token{}, ErrNotOffered
}
func (nothing) DeleteToken(context.Context, TokenID) error         { return ErrNotOffered }
func (nothing) RollToken(context.Context, TokenID) (Secret, error) { return Secret{}, ErrNotOffered }

// A read-only view of tokens offers no way back to writing, by no single method.
func TestReadOnlyTokensCannotWrite(t *testing.T) {
	view := ReadOnlyTokens(nothing{})
	reader := reflect.TypeFor[TokenReader]()
	if got, want := reflect.TypeOf(view).NumMethod(), reader.NumMethod(); got != want {
		t.Errorf("a read-only view has %d methods, want the %d that read", got, want)
	}
	for i := range reflect.TypeFor[TokenWriter]().NumMethod() {
		name := reflect.TypeFor[TokenWriter]().Method(i).Name
		if name == "Offers" {
			continue
		}
		if _, has := reflect.TypeOf(view).MethodByName(name); has {
			t.Errorf("a read-only view has %s", name)
		}
	}
}

const liveToken = `{"id":"t","name":"ci","status":"disabled","issued_on":"2026-01-01T00:00:00Z","modified_on":"2026-01-02T00:00:00Z",` +
	`"last_used_on":"2026-01-03T00:00:00Z","not_before":null,"expires_on":"2027-01-01T00:00:00Z","condition":null,"value":"never-kept",` +
	`"policies":[{"id":"p","effect":"allow","resources":{"com.vendor.api.account.*":"*"},"permission_groups":[{"id":"g","name":"Group","scopes":null}]}],` +
	`"provisioner_id":null,"provisioner_type":"TERRAFORM","big":12345678901234567890}`

// The body of an update has what the token shall be, what only the platform
// knows, and nothing that the platform writes itself.
func TestTokenUpdate(t *testing.T) {
	var live Token
	must.Do(t, json.Unmarshal([]byte(liveToken), &live))
	for name, test := range map[string]struct {
		spec TokenSpec
		want string
	}{
		"another": {
			TokenSpec{Name: "cd", NotBefore: "2026-06-01T00:00:00Z", Policies: []Policy{{Effect: Allow}}, Condition: &Condition{RequestIP: &AddressFilter{In: []string{}}}},
			`{"name":"cd","policies":[{"effect":"allow","resources":null,"permission_groups":null}],"not_before":"2026-06-01T00:00:00Z",` +
				`"condition":{"request.ip":{"in":[]}},"status":"disabled","big":12345678901234567890,"provisioner_id":null,"provisioner_type":"TERRAFORM"}`,
		},
		"nothing": {TokenSpec{}, `{"name":"","policies":null,"status":"disabled","big":12345678901234567890,"provisioner_id":null,"provisioner_type":"TERRAFORM"}`},
	} {
		got, err := json.Marshal(live.Update(test.spec))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, test.want)
		}
	}
	if again, err := json.Marshal((Token{}).Update(TokenSpec{Name: "new"})); err != nil || string(again) != `{"name":"new","policies":null}` {
		t.Errorf("an update of nothing: %s %v", again, err)
	}
	if live.LastUsedOn == "" || live.ID != "t" || live.Name != "ci" || live.ModifiedOn == "" || live.Status != "disabled" {
		t.Errorf("the token itself changed: %+v", live)
	}
}

// Lists and objects that are null read as what they are not: absent.
func TestTokenReadsNulls(t *testing.T) {
	var got Token
	err := json.Unmarshal([]byte(`{"id":"t","name":null,"policies":null,"condition":{"request.ip":null,"request_ip":{"in":null,"not_in":[]}},"status":null}`), &got)
	filter := got.Condition.RequestIP
	if err != nil || got.Policies != nil || got.Status != "" || filter == nil || filter.In != nil || filter.NotIn == nil || got.Extra != nil {
		t.Errorf("%v %+v", err, got)
	}
}

// Who stands before a platform hands on what a creation is to tell.
func TestBeforeSend(t *testing.T) {
	if err := Sending(t.Context()); err != nil {
		t.Errorf("nobody is to be told: %v", err)
	}
	var told []string
	full := errors.New("full")
	tell := func(name string, err error) func() error {
		return func() error { told = append(told, name); return err }
	}
	first := BeforeSend(t.Context(), tell("first", nil))
	both := BeforeSend(first, tell("second", full))
	_, err := asks{}.CreateToken(both, TokenSpec{})
	if !errors.Is(err, full) || !slices.Equal(told, []string{"first", "second"}) {
		t.Errorf("told %v: %v", told, err)
	}
	told = nil
	if err := Sending(BeforeSend(both, tell("third", nil))); !errors.Is(err, full) || slices.Contains(told, "third") {
		t.Errorf("told %v: %v", told, err)
	}
}

// asks is a platform that does as a creator must, and no more.
type asks struct{ nothing }

func (asks) CreateToken(ctx context.Context, _ TokenSpec) (CreatedToken, error) {
	return CreatedToken{}, Sending(ctx)
}
