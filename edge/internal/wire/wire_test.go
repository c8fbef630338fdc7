package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestDecodeTellsUnreadableFromEmpty(t *testing.T) {
	const whole = `{"result":[{"id":"a"}],"success":true,"errors":[],"messages":null}`
	for _, c := range []struct{ name, body, want string }{
		{"cut short", whole[:30], "cut short"},
		{"nothing", "", "cut short"},
		{"not JSON", "<html><h1>Welcome</h1></html>", `not JSON (byte 1): "Welcome"`},
		{"no envelope", `{"status":"up"}`, "not an envelope"},
		{"an array", `[]`, "array"},
		{"no result", `{"success":true,"errors":[]}`, "no result"},
		{"null result", `{"success":true,"result": null }`, "no result"},
		{"wrong shape", `{"success":true,"result":{"id":"a"}}`, "the result is an object"},
		{"something after it", whole + "x", "not JSON"},
		{"a key twice", `{"result":[{"id":"a","version":"1","version":"2"}],"success":true}`, `the key "version" stands twice`},
		{"a key twice in the envelope", `{"result":[{"id":"a"}],"success":false,"Success":true}`, `the key "Success" stands twice`},
		{"an escaped key twice", `{"result":[{"id":"a","\u0069d":"b"}],"success":true}`, `the key "id" stands twice`},
		{"bytes that are not UTF-8", "{\"result\":[{\"id\":\"\xff\"}],\"success\":true}", "not valid UTF-8"},
		{"half of a surrogate", `{"result":[{"id":"\ud800"}],"success":true}`, "half of a surrogate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []edge.Ruleset
			_, err := Response{Call: "GET /x", Status: 200, Body: []byte(c.body)}.Decode(&list)
			if !errors.Is(err, edge.ErrUnreadable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it unreadable, saying %q", err, c.want)
			}
		})
	}

	var list []edge.Ruleset
	if _, err := (Response{Status: 200, Body: []byte(whole)}).Decode(&list); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v from a whole answer", list, err)
	}
}

// What is known of an envelope without decoding it is what decoding says.
func TestMemberOfAnEnvelopeIsWhatItSays(t *testing.T) {
	for _, member := range []string{
		"true", "false", "null", "True", "TRUE", `"true"`, "1", "0", "[true]", "{}", "[]", "[ ]", "[null]", `[{"code":7,"message":"no"}]`, `""`, "tru", "[",
	} {
		var success, decoded *bool
		err, want := decodeMember([]byte(member), &success), json.Unmarshal([]byte(member), &decoded)
		if (err == nil) != (want == nil) || !reflect.DeepEqual(success, decoded) {
			t.Errorf("success %s: %v, %v, want %v, %v", member, success, err, decoded, want)
		}
		var details, decodedDetails []edge.ErrorDetail
		err, want = decodeMember([]byte(member), &details), json.Unmarshal([]byte(member), &decodedDetails)
		if (err == nil) != (want == nil) || len(details) != len(decodedDetails) {
			t.Errorf("errors %s: %v, %v, want %v, %v", member, details, err, decodedDetails, want)
		}
	}
	for envelope, good := range map[string]bool{
		"{\"success\"\t:\n true ,\r\n\"errors\" : [] , \"result\":[]}":   true,
		`{"errors":[],"result":[],"succ\u0065ss":true}`:                  true,
		`{"result":[],"errors":[{"success":true}],"success":true}`:       true,
		`{"result":[],"errors":{"success":true}}`:                        false,
		`{"result":{"success":true,"errors":[]}}`:                        false,
		`{"result":[],"success":null,"errors":[]}`:                       false,
		`{"result":[],"success":false,"errors":[]}`:                      false,
		`{"result":[],"success":"true","errors":[]}`:                     false,
		`{"result":[],"success":true,"succ\u0065ss":false}`:              false,
		`{"result":[],"errors":[],"success":true,"errors":[{"code":1}]}`: false,
		`{"result":[],"Success":true}`:                                   false,
		`{"result":[],"success":true,"errors":[]`:                        false,
		`{"result":[],"success":true,"errors":[]}{"success":false}`:      false,
		`[{"result":[],"success":true,"errors":[]}]`:                     false,
		`{"result":[],"success":true,"errors":7}`:                        false,
	} {
		var list []edge.Ruleset
		if _, err := (Response{Call: "GET /x", Status: 200, Body: []byte(envelope)}).Decode(&list); (err == nil) != good {
			t.Errorf("%s: %v", envelope, err)
		}
	}
}

// A part of an answer is none, also where it is JSON.
func TestPartOfAnAnswerIsUnreadable(t *testing.T) {
	for _, body := range []string{`{"result":{"id":"a"},"success":true}`, ""} {
		answer := Response{Call: "GET /x", Status: http.StatusPartialContent, Body: []byte(body)}
		_, err := answer.Decode(new(edge.Ruleset))
		if optional := answer.DecodeOptional(new(edge.Ruleset)); !errors.Is(err, edge.ErrUnreadable) || !errors.Is(optional, edge.ErrUnreadable) {
			t.Errorf("%q: got %v, %v", body, err, optional)
		}
	}
}

// What an ambiguous answer says of a failure is not acted on, and the secret of a creation is
// not quoted.
func TestAmbiguousFailure(t *testing.T) {
	var err error = DecodeError("GET /x", 400, nil, []byte(`{"success":false,"errors":[{"code":1,"code":1000,"message":"no"}]}`))
	var e *edge.Error
	if !errors.As(err, &e) || e.Code() != 0 || e.Body == "" {
		t.Errorf("got %v", err)
	}
	_, err = Response{Call: "POST /x", Status: 200, Confidential: true, Body: []byte(`{"result":{"s3cret":1,"s3cret":2},"success":true}`)}.Decode(new(edge.Ruleset))
	if !errors.Is(err, edge.ErrUnreadable) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestDecodeFailureInside2xx(t *testing.T) {
	body := `{"result":null,"success":false,"errors":[{"message":"no"}],"messages":null}`
	_, err := Response{Call: "GET /x", Status: 200, Body: []byte(body)}.Decode(new(edge.Ruleset))
	var e *edge.Error
	if !errors.As(err, &e) || e.Details[0].Message != "no" || e.Code() != 0 {
		t.Errorf("got %v", err)
	}
}

func TestRedirectIsUnreadable(t *testing.T) {
	_, err := Response{Call: "GET /x", Status: 302}.Decode(new(edge.Ruleset))
	if !errors.Is(err, edge.ErrUnreadable) || !strings.Contains(err.Error(), "base_url") {
		t.Errorf("got %v", err)
	}
}

func TestDecodeOptional(t *testing.T) {
	for body, want := range map[string]string{
		" \n": "", `{"success":true}`: "", `{"success":true,"result":null}`: "",
		`{"success":true,"result":{"id":"a"}}`: "a",
	} {
		var rs edge.Ruleset
		if err := (Response{Status: 200, Body: []byte(body)}).DecodeOptional(&rs); err != nil || string(rs.ID) != want {
			t.Errorf("%q: got %q, %v", body, rs.ID, err)
		}
	}
	for _, body := range []string{`{"success":tr`, `{}`, `{"success":true,"result":[1]}`} {
		if err := (Response{Status: 200, Body: []byte(body)}).DecodeOptional(new(edge.Ruleset)); !errors.Is(err, edge.ErrUnreadable) {
			t.Errorf("%q: got %v", body, err)
		}
	}
	if err := (Response{Status: 503}).DecodeOptional(nil); !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("an empty 503: got %v", err)
	}
}

func TestDecodeErrorKeepsWhatAPersonCanRead(t *testing.T) {
	page := "<!DOCTYPE html><head><style>p{}</style>\n<title>Bad\x00 gateway</title><!-- x > y --><p>host\tunreachable " + strings.Repeat("é", 300)
	var err error = DecodeError("GET /x", 502, nil, []byte(page))
	var e *edge.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Body, "Bad gateway host unreachable éé") || len(e.Body) > 200 {
		t.Errorf("got %q", e.Body)
	}
	if !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("a 502 is unavailable, got %v", err)
	}
}

func TestEncodeErrorIsReadBackWhole(t *testing.T) {
	want := &edge.Error{Call: "PATCH /x", Status: 400, Details: []edge.ErrorDetail{
		{Code: 20125, Message: "blank", Source: edge.ErrorSource{Pointer: "/expression"}, DocumentationURL: "https://example.com/"},
		{Message: "outer", Chain: []edge.ErrorDetail{{Code: 6111, Message: "inner"}}},
	}, RetryAfter: 7 * time.Second}
	body, err := EncodeError(want).Bytes()
	must.Do(t, err)
	got := DecodeError(want.Call, want.Status, http.Header{"Retry-After": {FormatRetryAfter(want.RetryAfter)}}, body)
	if !reflect.DeepEqual(got, error(want)) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

func TestEnvelopeOnTheWire(t *testing.T) {
	env, err := EncodeResult([]int{}, &Info{Cursors: &Cursors{After: "c"}})
	must.Do(t, err)
	body, _ := env.Bytes()
	if got, want := string(body), `{"result":[],"success":true,"errors":[],"messages":[],"result_info":{"cursors":{"after":"c"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	env = EncodeError(&edge.Error{})
	env.Messages = nil
	body, _ = env.Bytes()
	if got, want := string(body), `{"result":null,"success":false,"errors":[],"messages":null}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var ids []int
	if after, err := (Response{Status: 200, Body: body}).Decode(&ids); after != "" || err == nil {
		t.Errorf("a failure was decoded: %v", err)
	}
}

func TestRequestHasContentTypeExactlyWithABody(t *testing.T) {
	with, err := NewRequest(t.Context(), "PATCH", "http://h/x", map[string]bool{"enabled": true})
	if err != nil || with.Header.Get("Content-Type") != "application/json" || with.ContentLength != 16 || with.TransferEncoding != nil {
		t.Errorf("with a body: %v, %v", with, err)
	}
	without, err := NewRequest(t.Context(), "GET", "http://h/x", nil)
	if _, has := without.Header["Content-Type"]; err != nil || has || without.Body != nil {
		t.Errorf("without a body: %v, %v", without, err)
	}
}

func TestDecodeBody(t *testing.T) {
	asJSON := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	var rule edge.Rule
	if err := DecodeBody(asJSON, []byte(`{"expression":"true"}`), &rule); err != nil || rule.Expression != "true" {
		t.Errorf("got %v, %v", rule, err)
	}
	if err := DecodeBody(nil, []byte(`{}`), &rule); !errors.Is(err, edge.ErrInvalid) {
		t.Errorf("without a type: %v", err)
	}
	if err := DecodeBody(asJSON, []byte(`{"enabled":1}`), &rule); !errors.Is(err, edge.ErrInvalid) {
		t.Errorf("with a wrong type: %v", err)
	}
}

func TestLimits(t *testing.T) {
	want := []Limit{{"default", 50, 30 * time.Second}, {"burst", 0, time.Second}}
	header := http.Header{HeaderLimit: {want[0].String() + ", " + want[1].String(), `"broken";r=x;t=1`, `"half";r=1`}}
	if got := ParseLimits(header); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	policy := Policy{"default", 1200, 5 * time.Minute}
	if got := policy.String(); got != `"default";q=1200;w=300` {
		t.Errorf("got %s", got)
	}
}

func TestRetryAfter(t *testing.T) {
	const date = "Wed, 21 Oct 2026 07:28:00 GMT"
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "12": 12 * time.Second, "-1": 0, "soon": 0,
		"301": 300 * time.Second, "9223372036854775807": 300 * time.Second,
		"Wed, 21 Oct 2026 07:28:30 GMT": 30 * time.Second, "Wed, 21 Oct 2026 07:27:00 GMT": 0, "Wed, 21 Oct 2027 07:27:00 GMT": 300 * time.Second,
	} {
		header := http.Header{"Retry-After": {value}, "Date": {date}}
		if got := RetryAfter(header); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	header := http.Header{"Retry-After": {"Wed, 21 Oct 2026 07:28:30 GMT"}}
	if got := RetryAfter(header); got != 0 {
		t.Errorf("without a Date: got %v", got)
	}
}

// The law of the codec: what one side writes the other reads back, members
// neither of them knows included, and writing it again gives the same bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(`{"id":"a","kind":"zone","x":[1,{"y":null}],"rules":[{"id":"r","logging":{"enabled":true},"action_parameters":{"matched_data":{"k":"v"},"overrides":{"z":1,"categories":[{"category":"c","q":1.50}],"rules":[{"id":"i","w":"<&>"}]}}}]}`))
	f.Add([]byte(`{"rules":null,"enabled":false}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first edge.Ruleset
		if json.Unmarshal(data, &first) != nil {
			return
		}
		env, err := EncodeResult(first, nil)
		if err != nil {
			t.Fatalf("encoding what was decoded: %v", err)
		}
		body, err := env.Bytes()
		must.Do(t, err)
		var second edge.Ruleset
		if _, err := (Response{Status: 200, Body: body}).Decode(&second); err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		again, err := EncodeResult(second, nil)
		if err != nil || string(again.Result) != string(env.Result) {
			t.Errorf("not a fixed point: %v\n%s\n%s", err, env.Result, again.Result)
		}
		assertMembersSurvive(t, data, env.Result)
	})
}

// assertMembersSurvive holds every member of the top level against its copy.
func assertMembersSurvive(t *testing.T, before, after []byte) {
	t.Helper()
	var was, is map[string]any
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return
	}
	for name := range was {
		if _, known := is[name]; !known && !droppable[name] {
			t.Errorf("%q was lost: %s → %s", name, before, after)
		}
	}
}

// droppable are members that are left out when empty or null.
var droppable = map[string]bool{"id": true, "source": true, "version": true, "last_updated": true, "rules": true}

// FuzzDecode: no body of a stranger makes the decoder panic or succeed with
// nothing.
func FuzzDecode(f *testing.F) {
	f.Add(200, []byte(`{"success":true,"result":{"id":"a"},"result_info":{"cursors":{"after":"x"}}}`))
	f.Add(404, []byte(`{"success":false,"errors":[{"code":10003,"message":"m","error_chain":[{}]}]}`))
	f.Add(502, []byte(`<html><script>`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		var raw json.RawMessage
		r := Response{Status: status, Body: body}
		if _, err := r.Decode(&raw); err == nil && (isNull(raw) || !json.Valid(body)) {
			t.Errorf("%d %q was taken for a success", status, body)
		} else if err != nil && len(err.Error()) > 8*len(body)+600 {
			t.Errorf("an error of %d bytes for a body of %d", len(err.Error()), len(body))
		}
	})
}
