package sim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

func TestTranscriptIsExact(t *testing.T) {
	at := time.Date(2025, 6, 15, 0, 0, 0, 0, time.UTC)
	r := start(t, sim.Config{Now: func() time.Time { return at }})
	rule := rulePath(t, r, mem.ShopZone)
	call(t, r, "GET", listPath+"?per_page=2", "")
	call(t, r, "GET", newPath, "")
	call(t, r, "PATCH", rule, anUpdate)
	call(t, r, "PATCH", rule, "no JSON")
	control(t, r, "GET", "/state", "")
	if _, err := send(t, "GET", r.BaseURL+shopPath, ""); err != nil {
		t.Fatal(err)
	}

	var got []sim.Entry
	control(t, r, "GET", "/transcript", "").decode(t, &got)
	want := []sim.Entry{
		{N: 1, At: at, Method: "GET", Path: listPath, Query: "per_page=2", Status: 200},
		{N: 2, At: at, Method: "GET", Path: newPath, Status: 404},
		{N: 3, At: at, Method: "PATCH", Path: rule, Body: json.RawMessage(anUpdate), Status: 200},
		{N: 4, At: at, Method: "PATCH", Path: rule, Body: json.RawMessage(`"no JSON"`), Status: 400},
		{N: 5, At: at, Method: "GET", Path: shopPath, Status: 400},
	}
	for i := range got {
		switch authorization := got[i].Headers.Get("Authorization"); {
		case i < 4 && authorization != "Bearer [redacted]", i == 4 && authorization != "":
			t.Errorf("request %d: Authorization %q", i+1, authorization)
		}
		if got[i].Headers.Get("User-Agent") == "" {
			t.Errorf("request %d: headers %v", i+1, got[i].Headers)
		}
		if i < 4 == (got[i].Token == "") {
			t.Errorf("request %d: the token is %q", i+1, got[i].Token)
		}
		got[i].Headers, got[i].Token = nil, ""
		if string(got[i].Body) == "null" {
			got[i].Body = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if call := got[1].Call(); call != "GET "+newPath {
		t.Error(call)
	}

	control(t, r, "DELETE", "/transcript", "").want(t, 200, "[]\n")
	call(t, r, "GET", shopPath, "")
	if entries := r.Transcript(); len(entries) != 1 || entries[0].N != 1 {
		t.Errorf("after clearing: %+v", entries)
	}
}

// The secret is nowhere in what a transcript says.
func TestTranscriptHidesTheCredential(t *testing.T) {
	r := start(t, sim.Config{})
	call(t, r, "GET", shopPath, "")
	if _, err := send(t, "GET", r.BaseURL+shopPath, "", "Authorization: "+r.RulesetsToken.Reveal(), "Authorization: second "+r.RulesetsToken.Reveal()); err != nil {
		t.Fatal(err)
	}
	if got := control(t, r, "GET", "/transcript", ""); strings.Contains(got.body, r.RulesetsToken.Reveal()) {
		t.Error(got.body)
	}
}
