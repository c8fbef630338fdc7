package compile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compact"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

var integrations = map[string]string{
	"cue.mod/module.cue": mod,
	"base.cue": `package edge

calendar: "cname-flattening-setting": date: "2025-06-08"
integration: "billing-export": {
	owner: "finance"
	calls: [{method: "GET", path: "/user/billing/history"}]
}
`,
	"a/a.cue": `package edge

integration: "dns-sync": {
	owner: "network"
	calls: [{
		method:  "POST"
		path:    "/zones/{zone_id}/dns_records"
		headers: {Accept: "*/*", "X-Try": ["1", "2"]}
		body: {type: "SRV", data: {service: "_sip", port: 5060}, note: "<a>"}
	}]
}
`,
	"b/b.cue": `package edge

calendar: "our-gateway": {
	title: "Old routes of our gateway"
	date:  "2027-01-01"
	replacement: none: true
	endpoints: [{methods: ["*"], path: "/gateway/v1/..."}]
	body: [{on: [{methods: ["POST"], path: "/gateway/v2/x"}], path: "old.name", when: {path: "kind", equals: "a"}}]
}
`,
}

// TestIntegrationsAndCalendar: what the folders declare is merged, once each,
// with its places, and is the same after the crossing between processes.
func TestIntegrationsAndCalendar(t *testing.T) {
	fsys := tree(integrations)
	dirs, err := compile.Folders(fsys, ".")
	must.Do(t, err)
	var units []compile.Unit
	for _, dir := range dirs {
		var u compile.Unit
		must.Do(t, compact.Decode(compact.Encode(new(compile.Compiler).Folder(fsys, dir)), &u))
		units = append(units, u)
	}
	state, problems := compile.Merge(units, "c1")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	place := func(file string, line, column int) desired.Origin {
		return desired.Origin{Commit: "c1", File: file, Line: line, Column: column}
	}
	want := []desired.Integration{
		{
			Name: "billing-export", Owner: "finance", Origin: place("base.cue", 4, 14),
			Calls: []desired.Call{{Origin: place("base.cue", 6, 10), Method: "GET", Path: "/user/billing/history"}},
		},
		{
			Name: "dns-sync", Owner: "network", Origin: place("a/a.cue", 3, 14),
			Calls: []desired.Call{{
				Origin: place("a/a.cue", 5, 10), Method: "POST", Path: "/zones/{zone_id}/dns_records",
				Headers: map[string][]string{"Accept": {"*/*"}, "X-Try": {"1", "2"}},
				Body:    `{"type":"SRV","data":{"service":"_sip","port":5060},"note":"<a>"}`,
			}},
		},
	}
	if diff := cmp.Diff(want, state.Integrations); diff != "" {
		t.Errorf("integrations (-want +have):\n%s", diff)
	}
	if at := state.Calendar[0].Origin; at != place("base.cue", 3, 11) {
		t.Errorf("the correction is at %+v", at)
	}
	calendarOf(t, state)
}

// TestAFolderWithMistakesDeclaresNoCalls: a mistake that only Go can see takes
// back what was read.
func TestAFolderWithMistakesDeclaresNoCalls(t *testing.T) {
	fsys := tree(integrations)
	fsys["a/secret.cue"] = &fstest.MapFile{Data: []byte(`package edge

integration: x: {owner: "o", calls: [{method: "GET", path: "/a", headers: cookie: "c"}]}
`)}
	u := new(compile.Compiler).Folder(fsys, "a")
	if len(desired.Errors(u.Problems)) != 1 || u.Integrations != nil || u.Calendar != nil {
		t.Errorf("declares %v, %v; problems %v", u.Integrations, u.Calendar, u.Problems)
	}
}

// calendarOf holds the state's calendar to what it makes of the published one.
func calendarOf(t *testing.T, state desired.State) {
	t.Helper()
	published, err := schema.Calendar()
	must.Do(t, err)
	corrected, made, err := published.With(state.CalendarAdditions())
	must.Do(t, err)
	var said []string
	for _, c := range made {
		said = append(said, c.Where+": "+c.String())
	}
	want := "base.cue:3:11: cname-flattening-setting: date 2025-03-21 → 2025-06-08\n" +
		"b/b.cue:3:11: our-gateway: new rule, Old routes of our gateway, 2027-01-01"
	if strings.Join(said, "\n") != want {
		t.Errorf("corrections\n%s\nwant\n%s", strings.Join(said, "\n"), want)
	}
	m, err := deprecation.NewMatcher(corrected)
	must.Do(t, err)
	call := desired.Call{Method: "POST", Path: "/gateway/v2/x", Body: `{"kind":"a","old":{"name":1}}`}
	notices := m.Match(call.Request(), corrected.DataAsOf.Time())
	if len(notices) != 1 || notices[0].Rule != "our-gateway" || notices[0].State != deprecation.Announced {
		t.Errorf("the rule's member is not met: %+v", notices)
	}
	srv := m.Match(state.Integrations[1].Calls[0].Request(), corrected.DataAsOf.Time())
	if len(srv) == 0 || srv[len(srv)-1].Rule != "srv-data-name-fields" {
		t.Errorf("the integration's call: %+v", srv)
	}
}
