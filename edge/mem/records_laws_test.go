package mem_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
)

var (
	aWord  = rapid.StringMatching(`[a-z]{1,8}`)
	aDay   = rapid.Map(rapid.IntRange(0, 365*6), func(n int) time.Time { return deprecation.Date("2023-01-01").Time().AddDate(0, 0, n) })
	aValue = rapid.SampledFrom([]any{true, false, 1.5, "text", nil, []any{"a"}, members{"b": 1.0}})
)

// dropped are members that went away; nothing that a client sends brings them
// back.
var dropped = []string{"zone_id", "zone_name", "locked"}

// aRecord is a body of a record that is valid on any day, with members that nobody
// knows and, perhaps, those that went away.
var aRecord = rapid.Custom(func(t *rapid.T) members {
	body := members{"name": "_" + aWord.Draw(t, "service") + "._" + aWord.Draw(t, "proto") + ".example"}
	if rapid.Bool().Draw(t, "srv") {
		body["type"], body["data"] = "SRV", members{"port": 1.0, "target": aWord.Draw(t, "target")}
	} else {
		body["type"], body["content"] = "TXT", aWord.Draw(t, "content")
	}
	for range rapid.IntRange(0, 3).Draw(t, "unknown") {
		body["x-"+aWord.Draw(t, "member")] = aValue.Draw(t, "value")
	}
	for _, name := range dropped {
		if rapid.Bool().Draw(t, name) {
			body[name] = aValue.Draw(t, name+" value")
		}
	}
	return body
})

// expected is what a record that was sent reads like at a moment.
func expected(sent members, id string, at time.Time, srvEnd deprecation.Date) members {
	want := maps.Clone(sent)
	for _, name := range dropped {
		delete(want, name)
	}
	want["id"] = id
	if at.Before(deprecation.Date("2024-11-30").Time()) {
		want["zone_id"], want["zone_name"] = string(mem.ShopZone), "shop.example"
	}
	if at.Before(deprecation.Date("2024-07-14").Time()) {
		want["locked"] = false
	}
	if data, ok := want["data"].(members); ok && want["type"] == "SRV" && at.Before(srvEnd.Time()) {
		data = maps.Clone(data)
		service, rest, _ := strings.Cut(want["name"].(string), ".")
		proto, name, _ := strings.Cut(rest, ".")
		data["service"], data["proto"], data["name"] = service, proto, name
		want["data"] = data
	}
	return want
}

// A record that is written, by any of the writes on any days, and read on any
// other, is what was sent: with what the platform adds on that day, and never
// with what it has dropped by then.
func TestRecordWrittenIsReadBack(t *testing.T) {
	const srvEnd = deprecation.Date("2026-01-01")
	rapid.Check(t, func(rt *rapid.T) {
		p, at := dated(t, "2023-01-01", "srv-end-of-life="+string(srvEnd))
		*at = aDay.Draw(rt, "created")
		sent := aRecord.Draw(rt, "body")
		id := createRecord(rt, p, encode(rt, sent))["id"].(string)
		for range rapid.IntRange(0, 3).Draw(rt, "writes") {
			*at = aDay.Draw(rt, "written")
			next := aRecord.Draw(rt, "body")
			if rapid.Bool().Draw(rt, "replace") {
				if _, err := p.ReplaceDNSRecordJSON(rt.Context(), mem.ShopZone, id, []byte(encode(rt, next))); err != nil {
					rt.Fatal(err)
				}
				sent = next
			} else {
				patchRecord(rt, p, id, encode(rt, next))
				maps.Copy(sent, next)
			}
		}
		*at = aDay.Draw(rt, "read")
		if diff := cmp.Diff(expected(sent, id, *at, srvEnd), readRecord(rt, p, id)); diff != "" {
			rt.Errorf("on %s:\n%s", *at, diff)
		}
		again, err := mem.New(mem.Config{Seed: reread(rt, p.State())})
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(p.State(), again.State()); diff != "" {
			rt.Errorf("the state is another seed:\n%s", diff)
		}
	})
}

func encode(t tester, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func reread(t tester, seed mem.Seed) mem.Seed {
	t.Helper()
	var again mem.Seed
	if err := json.Unmarshal([]byte(encode(t, seed)), &again); err != nil {
		t.Fatal(err)
	}
	return again
}
