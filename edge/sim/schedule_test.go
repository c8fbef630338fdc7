package sim_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

func calendar(t testing.TB) deprecation.Calendar {
	t.Helper()
	return must.JSON[deprecation.Calendar](t, "../../cue/schema/calendar.json")
}

// travelling is a simulator with the calendar, on a day.
func travelling(t testing.TB, day deprecation.Date, quirks ...string) *sim.Running {
	t.Helper()
	return start(t, sim.Config{Calendar: calendar(t), Quirks: quirks, Now: stopped(day)})
}

// stopped is a clock that shows the beginning of a day until it is set.
func stopped(day deprecation.Date) func() time.Time { return day.Time }

// eve is the last moment before a day.
func eve(day deprecation.Date) time.Time { return day.Time().Add(-time.Nanosecond) }

func anchored(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		switch {
		case p == "...":
			parts[i] = "scripts/1"
		case strings.Trim(p, ":{}") != p:
			parts[i] = mem.ShopZone.String()
		}
	}
	return "/" + strings.Join(parts, "/")
}

// leaves are the calls of a rule that go away, as a client makes them.
func leaves(r deprecation.Rule) (calls [][2]string) {
	for _, e := range r.Endpoints {
		for _, path := range append([]string{e.Path}, e.Also...) {
			for _, method := range e.Methods {
				if method == deprecation.AnyMethod {
					method = http.MethodPut
				}
				calls = append(calls, [2]string{method, anchored(path)})
			}
		}
	}
	return calls
}

var (
	recordsPath    = "/zones/" + mem.ShopZone.String() + "/dns_records"
	srvPath        = recordsPath + "/" + sim.RecordSRV
	flatteningPath = "/zones/" + mem.ShopZone.String() + "/settings/cname_flattening"
)

// effect is a request and what its answer has while a rule is not over yet, and
// once it is.
type effect struct {
	method, path, body string
	before, from       func(reply) bool
}

func has(status int, texts ...string) func(reply) bool {
	return func(got reply) bool {
		ok := got.status == status
		for _, text := range texts {
			unwanted, not := strings.CutPrefix(text, "!")
			ok = ok && strings.Contains(got.body, unwanted) != not
		}
		return ok
	}
}

func filterEffect(query string) effect {
	return effect{"GET", recordsPath + "?" + query, "", has(200, `"total_count":2`), has(200, `"total_count":0`)}
}

// effects are those that the reference states beyond calls that go away. A rule
// without any here has calls, or is not imitated: TestEveryRule sees to that.
var effects = map[string][]effect{
	sim.RuleFlattening: {
		{"GET", flatteningPath, "", has(200, `{"id":"cname_flattening","value":"off"}`), has(404, `"code":7003`)},
		{"PATCH", flatteningPath, `{"value":"apex"}`, has(200, `"value":"apex"`), has(404, `"code":7003`)},
	},
	sim.RuleFilters: {
		filterEffect("name=contains:www"), filterEffect("name=starts_with:www"), filterEffect("name=ends_with:ww.shop.example"),
		filterEffect("content=contains:2.0.2"), filterEffect("content=starts_with:192"), filterEffect("content=ends_with:.10"),
		filterEffect("type=contains:x"),
	},
	sim.RuleZoneFields: {
		{"GET", srvPath, "", has(200, `"zone_id":"`+mem.ShopZone.String()+`"`, `"zone_name":"shop.example"`), has(200, "!zone_id", "!zone_name")},
		{"GET", recordsPath, "", has(200, `"zone_id"`, `"zone_name"`), has(200, "!zone_id", "!zone_name")},
		{"POST", recordsPath, recordWith(`"zone_id":"x","zone_name":"y"`), has(200, `"zone_name":"shop.example"`), has(200, "!zone_id", "!zone_name")},
		{"PATCH", srvPath, `{"zone_name":"y"}`, has(200, `"zone_name":"shop.example"`), has(200, "!zone_id", "!zone_name")},
		{"PUT", srvPath, recordWith(`"zone_id":"x"`), has(200, `"zone_name":"shop.example"`), has(200, "!zone_id", "!zone_name")},
	},
	sim.RuleErrorChain: {
		{"POST", recordsPath, `{"type":"A","content":"192.0.2.1"}`, has(400, `{"code":1004,"message":"DNS Validation Error","error_chain":[{"code":9000,"message":"name`), has(400, `"errors":[{"code":9000,"message":"name`, "!error_chain")},
		{"PATCH", srvPath, `{"name":""}`, has(400, `"code":1004`), has(400, "!error_chain", "!1004")},
		{"PUT", srvPath, `{}`, has(400, `"code":1004`), has(400, "!error_chain", "!1004")},
	},
	sim.RuleLocked: {
		{"GET", srvPath, "", has(200, `"locked":false`), has(200, "!locked")},
		{"GET", recordsPath, "", has(200, `"locked":false`), has(200, "!locked")},
		{"POST", recordsPath, recordWith(`"locked":true`), has(200, `"locked":false`), has(200, "!locked")},
		{"PATCH", srvPath, `{"locked":true}`, has(200, `"locked":false`), has(200, "!locked")},
		{"PUT", srvPath, recordWith(`"locked":true`), has(200, `"locked":false`), has(200, "!locked")},
	},
	sim.RuleSRV: {
		{"GET", srvPath, "", has(200, `"service":"_sip"`, `"proto":"_tcp"`, `"name":"shop.example"`), has(200, "!service", "!proto", "!\"name\":\"shop.example\"", `"port":5060`)},
		{"POST", recordsPath, srvWith(`"service":"_a"`), has(200, `"name":"_a._b.shop.example"`), has(400, "end of life")},
		{"PATCH", srvPath, `{"data":{"proto":"_udp","port":1}}`, has(200, `"name":"_sip._udp.shop.example"`), has(400, "end of life")},
		{"PUT", srvPath, srvWith(`"service":"_c"`), has(200, `"name":"_c._b.shop.example"`), has(400, "end of life")},
	},
}

func recordWith(members string) string {
	return `{"type":"A","name":"a.shop.example","content":"192.0.2.1",` + members + `}`
}

func srvWith(service string) string {
	return `{"type":"SRV","data":{` + service + `,"proto":"_b","name":"shop.example","port":1}}`
}

// srvEnd is an end of life for the SRV fields, which the reference gives none.
const srvEnd = deprecation.Date("2027-03-01")

// TestEveryRule goes through the calendar: whatever has an effect shows it on
// the day and not the moment before.
func TestEveryRule(t *testing.T) {
	c := calendar(t)
	config := sim.Config{Calendar: c, Quirks: []string{"srv-end-of-life=" + string(srvEnd)}, Now: stopped("2020-01-01"), RateLimit: sim.RateLimit{Off: true}}
	r := start(t, config)
	for i, told := range sim.Effects(c) {
		rule := c.Rules[i]
		day := rule.Date
		if rule.ID == sim.RuleSRV {
			day = srvEnd
		}
		calls, shown := leaves(rule), effects[rule.ID]
		byHand := rule.ID == "draft-ciphers-and-two-lengths" // lengths_test.go: it takes a connection of its own
		if stated := len(calls)+len(shown) > 0 || byHand; told.Rule != rule.ID || told.Imitated != stated || told.Before == "" || (told.From != "") != stated {
			t.Errorf("%s: with %d calls and %d effects it is told as %+v", rule.ID, len(calls), len(shown), told)
		}
		for _, e := range shown {
			e.observe(t, start(t, config), rule.ID, day)
		}
		for _, call := range calls {
			if len(shown) == 0 {
				effect{call[0], call[1], "", has(501, rule.ID, `"success":false`), has(404, `"code":7003`)}.observe(t, r, rule.ID, day)
			}
		}
	}
}

// observe asks the moment before the day and on it.
func (e effect) observe(t *testing.T, r *sim.Running, rule string, day deprecation.Date) {
	t.Helper()
	r.SetClock(eve(day))
	if got := call(t, r, e.method, e.path, e.body); !e.before(got) {
		t.Errorf("%s: before %s %s %s: %d %s", rule, day, e.method, e.path, got.status, got.body)
	}
	r.SetClock(day.Time())
	if got := call(t, r, e.method, e.path, e.body); !e.from(got) {
		t.Errorf("%s: on %s %s %s: %d %s", rule, day, e.method, e.path, got.status, got.body)
	}
}

func TestWhatTheReferenceDoesNotShowIsRefused(t *testing.T) {
	r := travelling(t, "2027-01-01")
	for path, status := range map[string]int{
		"GET /accounts":                                      501, // carries fields that went away
		"PATCH /zones/z/settings":                            501,
		"GET /zones/" + mem.ShopZone.String():                501, // takes over from zone_name
		"GET /zones/z/page_shield/scripts":                   501,
		"POST /accounts/a/images/v2/direct_upload":           501,
		"DELETE " + srvPath:                                  501,
		"POST /accounts/a/images/v1/direct_upload":           404,
		"POST " + flatteningPath:                             404,
		"GET /zones":                                         404,
		"GET /prefix/zones/z/rate_limits":                    404,
		"GET " + recordsPath + "/" + mem.ShopZone.String():   404,
		"GET /zones/" + string(mem.Account) + "/dns_records": 404,
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := call(t, r, method, path, ""); got.status != status {
			t.Errorf("%s %s: %d %s, want %d", method, path, got.status, got.body, status)
		}
	}
	r.SetClock(eve("2022-07-01"))
	if got := call(t, r, "GET", "/prefix/zones/z/rate_limits", ""); got.status != 404 {
		t.Errorf("an address that only ends like one of the calendar's: %d", got.status)
	}
}

// Without a calendar all of it has happened, but for what has no day.
func TestWithoutACalendar(t *testing.T) {
	r := start(t, sim.Config{Now: stopped("2019-01-01")})
	for _, e := range []effect{effects[sim.RuleFlattening][0], effects[sim.RuleFilters][0], effects[sim.RuleZoneFields][0], effects[sim.RuleErrorChain][0], effects[sim.RuleLocked][0]} {
		if got := call(t, r, e.method, e.path, e.body); !e.from(got) {
			t.Errorf("%s %s: %d %s", e.method, e.path, got.status, got.body)
		}
	}
	if got := call(t, r, "GET", srvPath, ""); !effects[sim.RuleSRV][0].before(got) {
		t.Errorf("the SRV fields: %s", got.body)
	}
	if got := call(t, r, "GET", "/zones/z/rate_limits", ""); got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A repository's correction moves the day here too.
func TestCorrectedCalendar(t *testing.T) {
	c, _, err := calendar(t).With([]deprecation.Addition{
		{ID: sim.RuleFlattening, Date: "2025-06-08"},
		{ID: sim.RuleSRV, EndOfLife: deprecation.End(srvEnd)},
		{ID: "ours", Title: "ours", Date: "2027-05-01", Replacement: &deprecation.Replacement{None: true}, Endpoints: []deprecation.Endpoint{{Methods: []string{"GET"}, Path: "/user/ours"}}},
	})
	must.Do(t, err)
	r := start(t, sim.Config{Calendar: c, Now: stopped("2020-01-01")})
	effects[sim.RuleFlattening][0].observe(t, r, sim.RuleFlattening, "2025-06-08")
	effects[sim.RuleSRV][0].observe(t, r, sim.RuleSRV, srvEnd)
	effect{"GET", "/user/ours", "", has(501, "ours"), has(404, "7003")}.observe(t, r, "ours", "2027-05-01")
	if _, err := sim.New(sim.Config{Calendar: deprecation.Calendar{Rules: []deprecation.Rule{{ID: "x"}}}}); err == nil {
		t.Error("a calendar with a mistake is taken")
	}
}

// Two runs of the same requests are the same to the byte, over any day.
func TestTimeTravelIsDeterministic(t *testing.T) {
	var runs [2][]string
	for i := range runs {
		r := travelling(t, "2024-01-01")
		for _, day := range []deprecation.Date{"2024-01-01", "2027-01-01", "2024-10-01"} {
			r.SetClock(day.Time())
			for _, id := range slices.Sorted(maps.Keys(effects)) {
				for _, e := range effects[id] {
					got := call(t, r, e.method, e.path, e.body)
					runs[i] = append(runs[i], fmt.Sprint(got.status, got.body))
				}
			}
		}
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Error(diff)
	}
}

func TestClockTakesADay(t *testing.T) {
	r := travelling(t, "2020-01-01")
	for _, at := range []string{"2025-03-21", "2025-03-21T00:00:00Z"} {
		r.SetClock(eve("2025-03-21"))
		got, err := send(t, "PUT", r.ControlURL()+"/clock", `{"at":"`+at+`"}`)
		if err != nil || got.status != 200 || got.body != "{\"at\":\"2025-03-21T00:00:00Z\"}\n" {
			t.Errorf("%s: %d %s %v", at, got.status, got.body, err)
		}
		if got := call(t, r, "GET", flatteningPath, ""); got.status != 404 {
			t.Errorf("%s: %d", at, got.status)
		}
	}
}
