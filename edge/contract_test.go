package edge

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// A read-only view offers no way back to writing, not even to a dry run.
func TestReadOnlyCannotWrite(t *testing.T) {
	view := ReadOnly(struct{ Platform }{})
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
