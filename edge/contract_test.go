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

// bare is a platform that answers every call with nothing.
type bare struct{ NoWriter }

func (bare) Offers(Call, Level) bool { return true }

func (bare) Rulesets(context.Context, Scope) ([]Ruleset, error) { return nil, nil }

func (bare) Ruleset(context.Context, Scope, RulesetID) (Ruleset, error) { return Ruleset{}, nil }

func (bare) EntryPoint(context.Context, Scope, Phase) (Ruleset, error) { return Ruleset{}, nil }

func (bare) RulesetVersion(context.Context, Scope, RulesetID, string) (Ruleset, error) {
	return Ruleset{}, nil
}

func (bare) Try(context.Context, Write) error                  { return nil }
func (bare) Zones(context.Context, ZoneFilter) ([]Zone, error) { return nil, nil }

func (bare) Zone(context.Context, ZoneID) (Zone, error) { return Zone{}, nil }

func (bare) Accounts(context.Context) ([]Account, error) { return nil, nil }

// Every call is in the list, in its turn, also those of the reference. What may
// only read sends no write.
func TestRecorderKnowsEveryCall(t *testing.T) {
	p, ctx := Record(bare{}), t.Context()
	_, create := p.Send(ctx, CreateEntryPoint(ZoneScope("z"), PhaseFirewallManaged))
	_, add := p.Send(ctx, AddRule(ZoneScope("z"), "e", Rule{}))
	_, remove := p.Send(ctx, DeleteRule(ZoneScope("z"), "e", "r"))
	_, update := p.Send(ctx, UpdateRule(ZoneScope("z"), "e", "r", Rule{}))
	for _, err := range []error{create, add, remove, update} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("got %v", err)
		}
	}
	_, e1 := p.Rulesets(ctx, ZoneScope("z"))
	_, e2 := p.Ruleset(ctx, ZoneScope("z"), "m")
	_, e3 := p.RulesetVersion(ctx, AccountScope("a"), "m", "7/8")
	_, e4 := p.RulesetVersion(ctx, ZoneScope("z"), "m", "7")
	e5 := p.Try(ctx, UpdateRule(ZoneScope("z"), "e", "r", Rule{}))
	e6 := p.Try(ctx, CreateEntryPoint(ZoneScope("z"), PhaseFirewallManaged))
	e7 := p.Try(ctx, AddRule(ZoneScope("z"), "e", Rule{}))
	_, e8 := p.Zones(ctx, ZoneFilter{})
	_, e9 := p.Zone(ctx, "z")
	_, e10 := p.Accounts(ctx)
	_, e11 := p.EntryPoint(ctx, ZoneScope("z"), PhaseFirewallManaged)
	must.Do(t, errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11))
	want := []string{
		"POST /zones/z/rulesets", "POST /zones/z/rulesets/e/rules", "DELETE /zones/z/rulesets/e/rules/r", "PATCH /zones/z/rulesets/e/rules/r",
		"GET /zones/z/rulesets", "GET /zones/z/rulesets/m", "GET /accounts/a/rulesets/m/versions/7%2F8", "GET /zones/z/rulesets/m/versions/7",
		"PATCH /zones/z/rulesets/e/rules/r?dry_run=true", "POST /zones/z/rulesets?dry_run=true", "POST /zones/z/rulesets/e/rules?dry_run=true",
		"GET /zones", "GET /zones/z", "GET /accounts", "GET /zones/z/rulesets/phases/http_request_firewall_managed/entrypoint",
	}
	if calls := p.Calls(); !slices.Equal(calls, want) {
		t.Errorf("recorded %q", calls)
	}
}

// A read-only view offers no way back to writing, not even to a dry run.
func TestReadOnlyCannotWrite(t *testing.T) {
	view := ReadOnly(bare{})
	for _, writer := range []reflect.Type{reflect.TypeFor[Writer](), reflect.TypeFor[DryRunner]()} {
		for i := range writer.NumMethod() {
			if name := writer.Method(i).Name; hasMethod(view, name) {
				t.Errorf("a read-only view has %s", name)
			}
		}
	}
	if got, want := reflect.TypeOf(view).NumMethod(), reflect.TypeFor[Reader]().NumMethod(); got != want {
		t.Errorf("a read-only view has %d methods, want the %d that read", got, want)
	}
}

func hasMethod(value any, name string) bool {
	_, has := reflect.TypeOf(value).MethodByName(name)
	return has
}

// The body of a creation has what the caller says of its rules, and nothing that
// only the platform writes.
func TestEntryPointBody(t *testing.T) {
	got, err := json.Marshal(EntryPointBody(ZoneScope("z"), PhaseFirewallManaged, []Rule{{ID: "r", Version: "3", LastUpdated: "x", Action: ActionExecute, Expression: "true"}}))
	want := `{"name":"default","description":"","kind":"zone","phase":"http_request_firewall_managed","rules":[{"action":"execute","expression":"true"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	if none, err := json.Marshal(EntryPointBody(ZoneScope("z"), PhaseFirewallManaged, nil)); err != nil || string(none) != `{"name":"default","description":"","kind":"zone","phase":"http_request_firewall_managed","rules":[]}` {
		t.Errorf("%s %v", none, err)
	}
}

// Zones keep what is not known of them.
func TestZonesAreOpen(t *testing.T) {
	const text = `{"id":"z","name":"a.example","status":"active","account":{"id":"a","name":"A","type":"standard"},"paused":false}`
	var z Zone
	if err := json.Unmarshal([]byte(text), &z); err != nil || z.Account.Name != "A" || string(z.Extra["paused"]) != "false" {
		t.Fatalf("%+v %v", z, err)
	}
	if again, err := json.Marshal(z); err != nil || string(again) != text {
		t.Errorf("%s %v", again, err)
	}
}

func TestErrorsBeyondTheReference(t *testing.T) {
	for _, test := range []struct {
		status, code int
		is, not      error
	}{
		{400, CodeEntryPointExists, ErrEntryPointExists, ErrInvalid},
		{404, CodeEntryPointExists, ErrNotFound, ErrEntryPointExists},
		{400, CodeNotEntitled, ErrNotEntitled, ErrEntryPointExists},
		{400, CodeNotEntitled, ErrInvalid, ErrNotOffered},
		{501, 0, ErrNotOffered, ErrUnavailable},
		{503, 0, ErrUnavailable, ErrNotOffered},
	} {
		err := &Error{Status: test.status, Details: []ErrorDetail{{Code: test.code}}}
		if !errors.Is(err, test.is) || errors.Is(err, test.not) {
			t.Errorf("%d with code %d: %v %v", test.status, test.code, errors.Is(err, test.is), errors.Is(err, test.not))
		}
	}
	if errors.Is(&Error{Status: 400}, uncomparable{}) {
		t.Error("an error is one of another kind")
	}
}

// uncomparable is an error that == must not be used on.
type uncomparable struct{ _ []int }

func (uncomparable) Error() string { return "" }
