package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// observations shows every quirk through HTTP. The test below sees that none is
// missing.
var observations = map[string]func(t *testing.T){
	"patch":            observePatch,
	"reorder":          observeReorder,
	"defaults":         observeDefaults,
	"omit-empty-rules": observeOmitEmptyRules,
	"ruleset-bump":     observeRulesetBump,
	"messages-null":    observeMessagesNull,
	"messages":         observeMessages,
	"throttle":         observeThrottle,
	"error-before":     observeErrorBefore,
	"error-after":      observeErrorAfter,
	"cut-after":        observeCutAfter,
	"truncate":         observeTruncate,
	"html":             observeHTML,
	"slow":             observeSlow,
	"request-ip":       observeRequestIP,
	"quota":            observeQuota,
	"zone-slow":        observeZoneSlow,
	"zone-forbidden":   observeZoneForbidden,
	"zone-hang":        observeZoneHang,

	"zone-unauthorized": observeZoneUnauthorized,

	"srv-end-of-life":     observeSRVEnd,
	"deprecation-headers": observeAnnounce,
}

func TestQuirks(t *testing.T) {
	for _, quirk := range sim.Quirks() {
		observe := observations[quirk.Name]
		if observe == nil {
			t.Errorf("quirk %s is not observed", quirk.Name)
			continue
		}
		if quirk.Matches == "" || quirk.Does == "" || quirk.Imitates == "" {
			t.Errorf("quirk %s is not explained", quirk.Name)
		}
		t.Run(quirk.Name, observe)
	}
}

func quirky(t *testing.T, quirks ...string) *sim.Running {
	t.Helper()
	return start(t, sim.Config{Quirks: quirks})
}

// statuses makes the same request n times.
func statuses(t *testing.T, r *sim.Running, n int, method, path, body string) []int {
	t.Helper()
	var list []int
	for range n {
		list = append(list, call(t, r, method, path, body).status)
	}
	return list
}

func wantStatuses(t *testing.T, got []int, want ...int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

func observePatch(t *testing.T) {
	const body = `{"action":"execute","expression":"false","action_parameters":{"id":"c04e0000000000000000000000000001"}}`
	for quirk, keeps := range map[string]bool{"patch=merge": true, "patch=replace": false} {
		r := quirky(t, quirk)
		got := result[edge.Ruleset](t, call(t, r, "PATCH", rulePath(t, r, mem.BlogZone), body))
		rule := got.Rules[0]
		if rule.Expression != "false" || (rule.Ref != "") != keeps || (rule.ActionParameters.Overrides != nil) != keeps {
			t.Errorf("%s: %+v", quirk, rule)
		}
	}
	r := quirky(t, "patch=ignored")
	before := r.Platform.State().Zones[1].EntryPoint.Rules[0]
	got := result[edge.Ruleset](t, call(t, r, "PATCH", rulePath(t, r, mem.BlogZone), body))
	if diff := cmp.Diff(before.Update(), got.Rules[0].Update()); diff != "" || got.Version != "2" || got.Rules[0].Version != "2" {
		t.Errorf("patch=ignored: version %s\n%s", got.Version, diff)
	}
	if diff := cmp.Diff(got, result[edge.Ruleset](t, call(t, r, "GET", blogPath, ""))); diff != "" {
		t.Errorf("patch=ignored: answer and state differ:\n%s", diff)
	}
	wantStatuses(t, statuses(t, r, 1, "PATCH", rulePath(t, r, mem.BlogZone), `{"action":"log","expression":" "}`), 400)
}

func observeReorder(t *testing.T) {
	r := quirky(t, "reorder")
	body := strings.Replace(anUpdate, `"rules":[`, `"categories":[{"category":"c","enabled":true},{"category":"d","enabled":false}],"rules":[`, 1)
	answer := call(t, r, "PATCH", rulePath(t, r, mem.ShopZone), body)
	for _, got := range []reply{answer, call(t, r, "GET", shopPath, "")} {
		overrides := result[edge.Ruleset](t, got).Rules[0].ActionParameters.Overrides
		if overrides.Rules[0].ID != "b" || overrides.Rules[1].ID != "a" || overrides.Categories[0].Category != "c" {
			t.Errorf("%+v", overrides)
		}
	}
	if id := r.Platform.State().Zones[0].EntryPoint.Rules[0].ActionParameters.Overrides.Rules[0].ID; id != "a" {
		t.Errorf("the quirk changed the state: first is rule %s", id)
	}
}

func observeDefaults(t *testing.T) {
	r := quirky(t, "defaults")
	call(t, r, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate)
	stored := r.Platform.State().Zones[0].EntryPoint.Rules[0]
	if stored.Enabled != nil || stored.Ref != "" {
		t.Errorf("the quirk changed the state: %+v", stored)
	}
	want := stored.Update()
	want.Enabled, want.Description, want.Ref, want.ActionParameters.Version = new(true), new(""), string(stored.ID), "latest"
	got := result[edge.Ruleset](t, call(t, r, "GET", shopPath, ""))
	if diff := cmp.Diff(want, got.Rules[0].Update()); diff != "" {
		t.Error(diff)
	}
}

func observeOmitEmptyRules(t *testing.T) {
	for quirk, has := range map[string]bool{"omit-empty-rules": false, "patch=replace": true} {
		r := quirky(t, quirk)
		must.Do(t, r.Platform.SetEntryPoint(mem.NewZone, edge.Ruleset{}))
		if got := call(t, r, "GET", newPath, ""); got.status != 200 || strings.Contains(got.body, `"rules":[]`) != has {
			t.Errorf("%s: %d %s", quirk, got.status, got.body)
		}
		if shop := result[edge.Ruleset](t, call(t, r, "GET", shopPath, "")); len(shop.Rules) != 1 {
			t.Errorf("%s: %d rules in a zone that has one", quirk, len(shop.Rules))
		}
	}
}

func observeRulesetBump(t *testing.T) {
	r := quirky(t, "ruleset-bump=2")
	var versions []string
	var last edge.Ruleset
	for range 5 {
		core := result[edge.Ruleset](t, call(t, r, "GET", corePath, ""))
		if versions = append(versions, core.Version); last.ID != "" && !cmp.Equal(last.Rules, core.Rules) || (last.Version == core.Version) != (last.LastUpdated == core.LastUpdated) {
			t.Errorf("version %s has other rules or an old time: %s", core.Version, core.LastUpdated)
		}
		last = core
		call(t, r, "GET", customPath, "") // not a managed one: not counted
	}
	if want := []string{"1", "2", "2", "3", "3"}; !slices.Equal(versions, want) {
		t.Errorf("versions %v, want %v", versions, want)
	}
}

func observeMessagesNull(t *testing.T) {
	r := quirky(t, "messages-null")
	if got := call(t, r, "GET", newPath, ""); got.status != 404 || !strings.HasSuffix(got.body, `"messages":null}`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := call(t, r, "GET", shopPath, ""); !strings.HasSuffix(got.body, `"messages":[]}`) {
		t.Errorf("success: %s", got.body)
	}
}

func observeMessages(t *testing.T) {
	r := quirky(t, "messages")
	const said = `"messages":[{"code":10020,"message":"maintenance is planned for Sunday"}]}`
	if got := call(t, r, "GET", shopPath, ""); got.status != 200 || !strings.HasSuffix(got.body, said) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func observeThrottle(t *testing.T) {
	r := start(t, sim.Config{Quirks: []string{"throttle=3"}, RetryAfter: 1500 * time.Millisecond})
	wantStatuses(t, statuses(t, r, 7, "GET", shopPath, ""), 200, 200, 429, 200, 200, 429, 200)
	statuses(t, r, 1, "GET", shopPath, "")
	got := call(t, r, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate)
	got.want(t, 429, `{"result":null,"success":false,"errors":[{"code":971,"message":"please wait and consider throttling your request speed"}],"messages":[]}`)
	if wait := got.header.Get("Retry-After"); wait != "2" {
		t.Errorf("Retry-After %q", wait)
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s: a throttled write took effect", version)
	}
}

func observeErrorBefore(t *testing.T) {
	r := quirky(t, "error-before=2")
	path := rulePath(t, r, mem.ShopZone)
	statuses(t, r, 3, "GET", shopPath, "") // reads do not count
	wantStatuses(t, statuses(t, r, 4, "PATCH", path, anUpdate), 200, 500, 200, 500)
	if version := shopVersion(t, r); version != "3" {
		t.Errorf("version %s, want 3: two of four writes took effect", version)
	}
}

func observeErrorAfter(t *testing.T) {
	r := quirky(t, "error-after=2")
	path := rulePath(t, r, mem.ShopZone)
	wantStatuses(t, statuses(t, r, 1, "PATCH", path, `{}`), 400) // without effect: does not count
	wantStatuses(t, statuses(t, r, 4, "PATCH", path, anUpdate), 200, 500, 200, 500)
	if version := shopVersion(t, r); version != "5" {
		t.Errorf("version %s, want 5: all four writes took effect", version)
	}
	wantStatuses(t, statuses(t, r, 2, "GET", shopPath, ""), 200, 200)
}

func observeCutAfter(t *testing.T) {
	r := quirky(t, "cut-after=2")
	path := rulePath(t, r, mem.ShopZone)
	wantStatuses(t, statuses(t, r, 1, "PATCH", path, anUpdate), 200)
	if got, err := try(t, r, "PATCH", path, anUpdate); err == nil {
		t.Errorf("an answer came: %d %s", got.status, got.body)
	}
	if version := shopVersion(t, r); version != "3" {
		t.Errorf("version %s, want 3: both writes took effect", version)
	}
	entries := r.Transcript()
	if last := entries[len(entries)-1]; last.Status != 0 || last.Method != "PATCH" {
		t.Errorf("the transcript ends with %+v", last)
	}
	wantStatuses(t, statuses(t, r, 1, "PATCH", path, anUpdate), 200)
}

func observeTruncate(t *testing.T) {
	r := quirky(t, "truncate=2")
	whole := call(t, r, "GET", shopPath, "").body
	wantStatuses(t, statuses(t, r, 1, "GET", newPath, ""), 404) // a failure does not count
	announced := call(t, r, "GET", shopPath, "")
	if announced.err == nil || announced.status != 200 || announced.body != whole[:len(whole)/2] {
		t.Errorf("the first time: %v, %d of %d bytes", announced.err, len(announced.body), len(whole))
	}
	call(t, r, "GET", shopPath, "").want(t, 200, whole)
	formed := call(t, r, "GET", shopPath, "")
	if formed.err != nil || formed.body != whole[:len(whole)/2] || json.Valid([]byte(formed.body)) {
		t.Errorf("the second time: %v, %d of %d bytes", formed.err, len(formed.body), len(whole))
	}
	wantStatuses(t, statuses(t, r, 2, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate), 200, 200)
}

func observeHTML(t *testing.T) {
	r := quirky(t, "html=2")
	path := rulePath(t, r, mem.ShopZone)
	wantStatuses(t, statuses(t, r, 4, "PATCH", path, anUpdate), 200, 502, 200, 502)
	if version := shopVersion(t, r); version != "3" {
		t.Errorf("version %s, want 3: two of four writes took effect", version)
	}
	call(t, r, "GET", shopPath, "")
	got := call(t, r, "GET", shopPath, "")
	if got.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(got.body, "<!DOCTYPE html>") {
		t.Errorf("%v %s", got.header, got.body)
	}
}

func observeSlow(t *testing.T) {
	const delay = 30 * time.Millisecond
	r := quirky(t, "slow="+delay.String())
	begin := time.Now()
	call(t, r, "GET", shopPath, "")
	if took := time.Since(begin); took < delay {
		t.Errorf("the answer took %s", took)
	}
}

// timed is how long a read of an entry point takes.
func timed(t *testing.T, r *sim.Running, path string) time.Duration {
	t.Helper()
	begin := time.Now()
	call(t, r, "GET", path, "")
	return time.Since(begin)
}

func observeZoneSlow(t *testing.T) {
	const delay = 200 * time.Millisecond
	slow := "zone-slow=" + mem.ShopZone.String() + "," + mem.NewZone.String() + ":" + delay.String()
	r := quirky(t, slow)
	if took := timed(t, r, blogPath); took >= delay {
		t.Errorf("another zone took %s", took)
	}
	for _, path := range []string{shopPath, newPath} { // the second is 404: failures are slow too
		if took := timed(t, r, path); took < delay {
			t.Errorf("%s took %s", path, took)
		}
	}
	must.Do(t, r.SetQuirks([]string{slow, "slow=1ms"}))
	if took := timed(t, r, shopPath); took < delay {
		t.Errorf("beside slow it took %s", took)
	}
}

func observeZoneForbidden(t *testing.T) {
	r := quirky(t, "zone-forbidden="+mem.ShopZone.String())
	path := rulePath(t, r, mem.ShopZone)
	for _, got := range []reply{call(t, r, "GET", shopPath, ""), call(t, r, "PATCH", path, anUpdate)} {
		got.want(t, 403, `{"result":null,"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[]}`)
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s: a forbidden write took effect", version)
	}
	wantStatuses(t, statuses(t, r, 1, "GET", blogPath, ""), 200)
	wantStatuses(t, statuses(t, r, 1, "GET", listPath, ""), 200)
	wantStatuses(t, statuses(t, r, 1, "GET", "/zones/"+mem.ShopZone.String()+"/nothing", ""), 404)
	control(t, r, "PUT", "/quirks", `["zone-forbidden=`+mem.BlogZone.String()+`"]`)
	wantStatuses(t, statuses(t, r, 1, "GET", shopPath, ""), 200)
	wantStatuses(t, statuses(t, r, 1, "GET", blogPath, ""), 403)
}

// Only the documented profile has a code for every error.
func observeZoneUnauthorized(t *testing.T) {
	for profile, want := range map[string]string{mem.Documented: `{"code":10000,"message":`, mem.Vendor: `{"message":`} {
		r := start(t, sim.Config{Profile: profile, Quirks: []string{"zone-unauthorized=" + mem.ShopZone.String()}})
		call(t, r, "GET", shopPath, "").want(t, 403, `{"result":null,"success":false,"errors":[`+want+`"request is not authorized"}],"messages":[]}`)
		wantStatuses(t, statuses(t, r, 1, "GET", blogPath, ""), 200)
	}
}

// A request that hangs ends with its client, and with the server.
func observeZoneHang(t *testing.T) {
	r := quirky(t, "zone-hang="+mem.ShopZone.String())
	path := rulePath(t, r, mem.ShopZone)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, request := range []string{"GET " + shopPath, "PATCH " + path} {
		method, path, _ := strings.Cut(request, " ")
		go func() { ended <- hang(ctx, r, method, path) }()
	}
	for len(r.Transcript()) < 2 {
		time.Sleep(time.Millisecond) // until both have arrived
	}
	wantStatuses(t, statuses(t, r, 3, "GET", blogPath, ""), 200, 200, 200)
	select {
	case err := <-ended:
		t.Errorf("a request about the zone ended: %v", err)
	default:
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s: a write that hangs took effect", version)
	}
	go func() { ended <- hang(t.Context(), r, "GET", shopPath) }()
	for len(r.Transcript()) < 6 {
		time.Sleep(time.Millisecond)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the server stopped, and the request ended with %v", err)
	}
}

// hang sends a request, and returns when an answer comes or there will be none.
func hang(ctx context.Context, r *sim.Running, method, path string) error {
	req, err := http.NewRequestWithContext(ctx, method, r.BaseURL+path, strings.NewReader(anUpdate))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.RulesetsToken.Reveal())
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("answered with %d", res.StatusCode), res.Body.Close())
}

// A slow server stops at once all the same. The clock tells that the request
// has arrived: it is stamped then.
func TestSlowEndsWithTheServer(t *testing.T) {
	arrived := make(chan struct{}, 10)
	r, err := sim.Start(sim.Config{Quirks: []string{"slow=1h"}, Now: func() time.Time {
		arrived <- struct{}{}
		return time.Now()
	}})
	must.Do(t, err)
	for len(arrived) > 0 {
		<-arrived // looks at the clock while the platform was made
	}
	got := make(chan int, 1)
	go func() {
		answer, _ := try(t, r, "GET", shopPath, "")
		got <- answer.status
	}()
	<-arrived
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if status := <-got; status != 200 {
		t.Errorf("status %d", status)
	}
}

func TestQuirksTogether(t *testing.T) {
	r := quirky(t, "error-before=3", "error-after=2", "messages-null", "reorder")
	path := rulePath(t, r, mem.ShopZone)
	// Every third fails before; of those that take effect every second fails after.
	wantStatuses(t, statuses(t, r, 6, "PATCH", path, anUpdate), 200, 500, 500, 200, 500, 500)
	if version := shopVersion(t, r); version != "5" {
		t.Errorf("version %s, want 5", version)
	}
}

func observeSRVEnd(t *testing.T) {
	r := travelling(t, srvEnd, "srv-end-of-life="+string(srvEnd))
	for _, e := range effects[sim.RuleSRV] {
		e.observe(t, r, sim.RuleSRV, srvEnd)
	}
	for _, bad := range []string{"srv-end-of-life", "srv-end-of-life=soon", "srv-end-of-life=2027-02-30"} {
		if err := r.SetQuirks([]string{bad}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func observeAnnounce(t *testing.T) {
	r := travelling(t, "2025-03-01", "deprecation-headers")
	reader, err := deprecation.NewMatcher(calendar(t))
	must.Do(t, err)
	for _, test := range []struct{ method, path, body, deprecation, sunset string }{
		{"GET", "/zones/z/rate_limits", "", "@1749945600", "Sun, 15 Jun 2025 00:00:00 GMT"},
		{"GET", flatteningPath, "", "@1742515200", "Fri, 21 Mar 2025 00:00:00 GMT"},
		{"GET", "/zones/z/settings/brotli", "", "@1723680000", "Thu, 15 Aug 2024 00:00:00 GMT"}, // gone: 404
		{"GET", recordsPath + "?name=a,b", "", "@1740096000", "Fri, 23 May 2025 00:00:00 GMT"},
		{"GET", recordsPath + "?name=contains:a&content=a,b", "", "@1740096000", "Fri, 23 May 2025 00:00:00 GMT"}, // what comes next
		{"POST", recordsPath, srvWith(`"service":"_a"`), "@1717113600", ""},                                       // no day is known
		{"POST", recordsPath, recordWith(`"locked":false,"zone_id":"z"`), "@1732924800", "Sat, 30 Nov 2024 00:00:00 GMT"},
		{"GET", recordsPath, "", "", ""}, // affected, and stays
		{"GET", shopPath, "", "", ""},
	} {
		got := call(t, r, test.method, test.path, test.body)
		if got.header.Get("Deprecation") != test.deprecation || got.header.Get("Sunset") != test.sunset {
			t.Errorf("%s %s: Deprecation %q Sunset %q", test.method, test.path, got.header.Get("Deprecation"), got.header.Get("Sunset"))
		}
		notices := reader.MatchResponse(deprecation.Request{}, deprecation.Response{Header: got.header}, time.Now())
		if len(notices) != min(len(test.deprecation), 1) {
			t.Errorf("%s %s: who reads the headers is told %+v", test.method, test.path, notices)
		}
	}
	must.Do(t, r.SetQuirks(nil))
	if got := call(t, r, "GET", flatteningPath, ""); got.header.Get("Deprecation")+got.header.Get("Sunset") != "" {
		t.Error("without the quirk there are headers")
	}
}
