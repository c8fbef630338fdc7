package mem_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
)

// dated is a platform with the calendar, and its clock.
func dated(t testing.TB, day deprecation.Date, quirks ...string) (*mem.Platform, *time.Time) {
	t.Helper()
	c, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	at := day.Time()
	p, err := mem.New(mem.Config{Calendar: c, Quirks: quirks, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	return p, &at
}

type members = map[string]any

// tester is a test, or one round of a law.
type tester interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func object(t tester, raw json.RawMessage, err error) members {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var m members
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return m
}

func createRecord(t tester, p *mem.Platform, body string) members {
	t.Helper()
	raw, err := p.CreateDNSRecordJSON(t.Context(), mem.ShopZone, []byte(body))
	return object(t, raw, err)
}

func patchRecord(t tester, p *mem.Platform, id any, body string) members {
	t.Helper()
	raw, err := p.UpdateDNSRecordJSON(t.Context(), mem.ShopZone, id.(string), []byte(body))
	return object(t, raw, err)
}

func readRecord(t tester, p *mem.Platform, id any) members {
	t.Helper()
	raw, err := p.DNSRecord(t.Context(), mem.ShopZone, id.(string))
	return object(t, raw, err)
}

func TestRecordLives(t *testing.T) {
	p, _ := dated(t, "2027-01-01")
	made := createRecord(t, p, `{"name":"a.shop.example","type":"A","content":"192.0.2.7","ttl":300,"Locked":1,"id":"mine","locked":true,"zone_id":"z","zone_name":"n"}`)
	id := made["id"]
	want := members{"id": id, "name": "a.shop.example", "type": "A", "content": "192.0.2.7", "ttl": 300.0, "Locked": 1.0}
	if id == "mine" || !edge.ValidID(id.(string)) {
		t.Errorf("id %v", id)
	}
	check := func(what string, got members) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
		if diff := cmp.Diff(want, readRecord(t, p, id)); diff != "" {
			t.Errorf("%s, read back:\n%s", what, diff)
		}
	}
	check("created", made)
	want["content"], want["note"] = "192.0.2.8", members{"x": []any{}}
	check("updated", patchRecord(t, p, id, `{"content":"192.0.2.8","note":{"x":[]},"id":"other"}`))
	want = members{"id": id, "name": "b.shop.example", "type": "TXT", "data": members{}}
	raw, err := p.ReplaceDNSRecordJSON(t.Context(), mem.ShopZone, id.(string), []byte(`{"name":"b.shop.example","type":"TXT","data":{}}`))
	check("replaced", object(t, raw, err))
	if other := createRecord(t, p, `{"name":"b.shop.example","type":"TXT","data":{}}`); other["id"] == id {
		t.Error("two records have one id")
	}
}

func TestRecordsAreOfTheirZone(t *testing.T) {
	p, _ := dated(t, "2027-01-01")
	for _, zone := range []edge.ZoneID{mem.BlogZone, "nowhere"} {
		_, reading := p.DNSRecord(t.Context(), zone, mem.SRVRecord)
		_, updating := p.UpdateDNSRecordJSON(t.Context(), zone, mem.SRVRecord, []byte(`{}`))
		_, replacing := p.ReplaceDNSRecordJSON(t.Context(), zone, mem.SRVRecord, []byte(`{}`))
		for _, err := range []error{reading, updating, replacing} {
			if !errors.Is(err, edge.ErrNotFound) {
				t.Errorf("%s: %v", zone, err)
			}
		}
	}
	if _, err := p.CreateDNSRecordJSON(t.Context(), "nowhere", []byte(`{}`)); !errors.Is(err, edge.ErrNotFound) {
		t.Error(err)
	}
	if _, err := p.DNSRecords(t.Context(), "nowhere", nil); !errors.Is(err, edge.ErrNotFound) {
		t.Error(err)
	}
	list, err := p.DNSRecords(t.Context(), mem.NewZone, nil)
	if err != nil || list == nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

func TestInvalidRecords(t *testing.T) {
	for body, pointer := range map[string]string{
		`{"type":"A","content":"x"}`:                                       "/name",
		`{"name":"a","content":"x"}`:                                       "/type",
		`{"name":7,"type":"A","content":"x"}`:                              "/name",
		`{"name":"a","type":"A"}`:                                          "/content",
		`{"name":"a","type":"A","content":null}`:                           "/content",
		`{"name":"a","type":"A","data":[]}`:                                "/data",
		`{"name":"a","type":"SRV","data":null}`:                            "/data",
		`{"type":"SRV","data":{"service":"_a","proto":"_b"}}`:              "/name",
		`{"type":"SRV","data":{"service":"a","proto":"_b","name":"c"}}`:    "/data/service",
		`{"type":"SRV","data":{"service":"_a","proto":"_b.c","name":"c"}}`: "/data/proto",
		`{"type":"SRV","data":{"service":"_a","proto":"_b","name":""}}`:    "/data/name",
	} {
		for day, wrapped := range map[deprecation.Date]bool{"2024-09-30": true, "2024-10-01": false} {
			p, _ := dated(t, day)
			before := p.State()
			_, err := p.CreateDNSRecordJSON(t.Context(), mem.ShopZone, []byte(body))
			var e *edge.Error
			if !errors.As(err, &e) || e.Status != http.StatusBadRequest || len(e.Details) != 1 || (e.Code() == 1004) != wrapped {
				t.Errorf("%s on %s: %v", body, day, err)
				continue
			}
			cause := e.Details
			if wrapped {
				cause = cause[0].Chain
			}
			if len(cause) != 1 || cause[0].Pointer != pointer || cause[0].Chain != nil {
				t.Errorf("%s on %s: %+v", body, day, cause)
			}
			if diff := cmp.Diff(before, p.State()); diff != "" {
				t.Errorf("%s: refused, and still:\n%s", body, diff)
			}
		}
	}
	p, _ := dated(t, "2020-01-01")
	for _, body := range []string{`[]`, `null`, `{`, `"x"`} {
		var e *edge.Error
		if _, err := p.CreateDNSRecordJSON(t.Context(), mem.ShopZone, []byte(body)); !errors.As(err, &e) || e.Status != 400 || e.Code() == 1004 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestSRVNameAndData(t *testing.T) {
	p, at := dated(t, "2024-06-01", "srv-end-of-life=2026-01-01")
	want := members{"service": "_a", "proto": "_b", "name": "shop.example", "port": 1.0}
	for _, body := range []string{
		`{"type":"SRV","data":{"service":"_a","proto":"_b","name":"shop.example","port":1}}`,
		`{"type":"SRV","name":"_a._b.shop.example","data":{"port":1}}`,
		`{"type":"SRV","name":"_a._b.shop.example","data":{"service":"_A","port":1}}`,
	} {
		got := createRecord(t, p, body)
		if diff := cmp.Diff(want, got["data"]); diff != "" || got["name"] != "_a._b.shop.example" {
			t.Errorf("%s: %v\n%s", body, got["name"], diff)
		}
	}
	if got := createRecord(t, p, `{"type":"SRV","name":"odd","data":{"port":1}}`); cmp.Diff(members{"port": 1.0}, got["data"]) != "" {
		t.Errorf("a name with no parts: %v", got)
	}
	if got := createRecord(t, p, `{"type":"URI","name":"u","data":{"service":"kept"}}`); cmp.Diff(members{"service": "kept"}, got["data"]) != "" {
		t.Errorf("a record of another type: %v", got)
	}
	if got := patchRecord(t, p, mem.SRVRecord, `{"data":{"service":"_sips","port":5061}}`); got["name"] != "_sips._tcp.shop.example" {
		t.Errorf("a part of the name: %v", got)
	}
	if got := patchRecord(t, p, mem.SRVRecord, `{"name":"_x._y.z"}`); cmp.Diff(members{"service": "_x", "proto": "_y", "name": "z", "port": 5061.0}, got["data"]) != "" {
		t.Errorf("the outer name alone: %v", got)
	}
	var e *edge.Error
	_, err := p.UpdateDNSRecordJSON(t.Context(), mem.ShopZone, mem.SRVRecord, []byte(`{"name":"_x._y.z","data":{"service":"_q"}}`))
	if !errors.As(err, &e) || e.Status != http.StatusNotImplemented || !strings.Contains(err.Error(), mem.RuleSRV) {
		t.Errorf("two names that differ: %v", err)
	}
	*at = deprecation.Date("2026-01-01").Time()
	if got := readRecord(t, p, mem.SRVRecord); cmp.Diff(members{"port": 5061.0}, got["data"]) != "" || got["name"] != "_x._y.z" {
		t.Errorf("after the end of life: %v", got)
	}
	if got := patchRecord(t, p, mem.SRVRecord, `{"data":{"port":1,"target":"t"}}`); cmp.Diff(members{"port": 1.0, "target": "t"}, got["data"]) != "" {
		t.Errorf("the other fields: %v", got)
	}
}

func TestSeedOfRecords(t *testing.T) {
	seed := func(record string) string {
		return `{"accounts":[{"id":"` + string(mem.Account) + `","rulesets":[]}],"zones":[{"id":"` + string(mem.ShopZone) + `","account_id":"` +
			string(mem.Account) + `","name":"shop.example","entrypoint":null}],"dns_records":[` + record + `]}`
	}
	const ids = `"id":"d5000000000000000000000000000003","zone_id":"00000000000000000000000000000a01"`
	got, err := mem.ReadSeed(strings.NewReader(seed(`{` + ids +
		`,"type":"SRV","locked":false,"zone_name":"x","data":{"service":"_a","proto":"_b","name":"c"},"ttl":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := mem.New(mem.Config{Seed: got})
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(p.State().DNSRecords)
	want := `[{"data":{},"id":"d5000000000000000000000000000003","name":"_a._b.c","ttl":1,"type":"SRV","zone_id":"00000000000000000000000000000a01"}]`
	if err != nil || string(again) != want {
		t.Errorf("%s %v\nwant %s", again, err, want)
	}
	for name, record := range map[string]string{
		"no zone":      `{"id":"d5000000000000000000000000000003","zone_id":"0","name":"a","type":"A","content":"x"}`,
		"id":           `{"id":"a","zone_id":"00000000000000000000000000000a01","name":"a","type":"A","content":"x"}`,
		"twice":        `{` + ids + `,"name":"a","type":"A","content":"x"},{` + ids + `,"name":"a","type":"A","content":"x"}`,
		"no name":      `{` + ids + `,"type":"A","content":"x"}`,
		"no object":    `7`,
		"null":         `null,7`,
		"contradicted": `{` + ids + `,"type":"SRV","name":"_a._b.d","data":{"service":"_a","proto":"_b","name":"c"}}`,
	} {
		if _, err := mem.ReadSeed(strings.NewReader(seed(record))); err == nil || !strings.Contains(err.Error(), "DNS record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, dns := range []string{
		`"cname_flattening":"maybe"`, `"cname_flattening":"on","dns_settings":{}`, `"dns_settings":{"zone_defaults":{"nameservers":{"type":"x"}}}`, `"dns_settings":{"flatten":true}`,
	} {
		text := strings.Replace(seed(""), `"entrypoint":null`, `"entrypoint":null,`+dns, 1)
		if _, err := mem.ReadSeed(strings.NewReader(text)); err == nil {
			t.Errorf("%s is taken", dns)
		}
	}
}
