package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
	"github.com/seawall-dev/seawall/edge/expression/eval"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// test reads a test of rules, and runs it where the folder has its zone.
func (r *reader) test(m member) DeclaredTest {
	path := at("test", m.key)
	d := DeclaredTest{Name: m.key, Origin: m.origin()}
	data, err := m.value.MarshalJSON()
	var t meet.Test
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		r.problem(m.origin(), path, fmt.Sprintf("cannot be read: %.100s", err), "")
		return d
	}
	d.Zone, d.Value = t.Zone, string(data)
	request, err := t.Request.Request()
	if wrong := (*eval.FormError)(nil); errors.As(err, &wrong) {
		f := m.field("request")
		for _, name := range wrong.Path {
			f = f.field(name)
		}
		r.problem(f.origin(), at(path, append([]string{"request"}, wrong.Path...)...), wrong.Message, wrong.Hint)
		return d
	}
	if t.Expect.Result == "" && len(t.Expect.Meets)+len(t.Expect.Misses) == 0 {
		r.problem(m.field("expect").origin(), at(path, "expect"), "expects nothing", "say at least one of result, meets, misses")
		return d
	}
	scopes := meet.Scopes(r.unit.Accounts, t.Account, t.Zone)
	if d.Ran = len(scopes) > 0; !d.Ran {
		return d
	}
	if f := t.Expect.Check(meet.Zone(scopes, request)); f != nil {
		r.problem(m.field("expect").origin(), at(path, "expect"), f.Message, f.Hint)
	}
	return d
}

// test takes a test that has no other under its name. A folder inherits those of the folders above
// it, and has the zones of some of them alone.
func (m *merger) test(t DeclaredTest) {
	if t.Ran {
		m.ran[t.Name] = true
	}
	t.Ran = false
	declare(m, m.tests, t.Name, at("test", t.Name), t, func(t DeclaredTest) desired.Origin { return t.Origin })
}

// checkTests holds each test to a zone: one that never ran would pass for ever.
func (m *merger) checkTests() {
	var zones []string
	for _, a := range m.accounts {
		zones = slices.AppendSeq(zones, maps.Keys(a.zones))
	}
	for _, name := range slices.Sorted(maps.Keys(m.tests)) {
		t := m.tests[name]
		if m.ran[name] {
			continue
		}
		p := desired.Problem{Origin: t.Origin, Path: at("test", name, "zone"), Message: fmt.Sprintf("there is no zone %q", t.Zone)}
		if slices.Contains(zones, t.Zone) {
			p.Message = fmt.Sprintf("no folder has both the test and the zone %q alone", t.Zone)
			p.Hint = "declare the test in the folder that declares the zone, and say its account where two accounts have such a zone"
		} else {
			p.Hint = nearest.Hint(t.Zone, zones, "zone is the key under zone: in the desired state")
		}
		m.problems = append(m.problems, p)
	}
}
