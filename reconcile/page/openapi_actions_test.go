package page_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// orders say what each action does, with an order for it.
var orders = map[string]struct {
	summary string
	example object
}{
	"read":        {"read zones at once", object{"zones": []any{pagetest.Scope(0).Text()}}},
	"hold":        {"hold a zone for a time", object{"zone": pagetest.Scope(0).Text(), "for": "2h", "reason": "INC-1"}},
	"release":     {"end the hold of a zone", object{"zone": pagetest.Scope(0).Text()}},
	"approve":     {"approve the waiting change of a zone that has this digest", object{"zone": pagetest.Scope(0).Text(), "digest": "sha256:5f2c", "reason": "INC-1"}},
	"plan-revert": {"plan a revert of a commit", object{"commit": pagetest.Commit}},
	"revert":      {"begin a planned revert, if its plan still has this digest", object{"commit": pagetest.Commit, "digest": "sha256:5f2c"}},
}

// describeActions adds the actions to the paths.
func describeActions(t *testing.T, s *schemas, paths object) {
	orderSchema, _ := s.of(reflect.TypeFor[page.Order]())
	members := s.all[orderSchema].Properties
	delete(s.all, orderSchema) // each action takes some of it
	answer, _ := s.of(reflect.TypeFor[page.Ordered]())
	going, summary := s.of(reflect.TypeFor[page.Reverting]())
	failures := func(statuses ...string) object {
		responses := object{}
		for _, status := range statuses {
			responses[status] = ref("responses", status)
		}
		return responses
	}
	value := func(schema string) object {
		return object{"description": "done", "content": object{"application/json": object{"schema": ref("schemas", schema)}}}
	}
	for _, a := range page.AllActions() {
		order, ok := orders[a.Name]
		if !ok {
			t.Fatalf("say in orders what %s does", a.Name)
		}
		properties := object{}
		for _, member := range slices.Concat(a.Takes, a.May) {
			properties[member], _ = members.Get(member)
		}
		body := object{"schema": object{"type": "object", "properties": properties, "required": a.Takes, "additionalProperties": false}, "example": order.example}
		responses := failures("400", "401", "403", "404", "409", "413", "415", "500", "503")
		responses["200"] = value(answer)
		paths["/api/v1/actions/"+a.Name] = object{"post": object{
			"operationId": operationID("/api/v1/actions/" + strings.ReplaceAll(a.Name, "-", "/"))[len("get"):], "summary": order.summary, "responses": responses,
			"requestBody": object{"required": true, "content": object{"application/json": body}},
		}}
	}
	responses := failures("401", "403", "500")
	responses["200"] = value(going)
	paths["/api/v1/actions/revert"].(object)["get"] = object{"operationId": "getRevert", "summary": summary, "responses": responses}
}

// TestOrdersAreAsDescribed holds actions to their description.
func TestOrdersAreAsDescribed(t *testing.T) {
	who := &login.Person{}
	pages := page.Handler(page.Config{Data: pagetest.New(1), Actions: &ordered{going: filled[page.Reverting]()}, Login: &page.Login{}})
	api := pagetest.NewAPI(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who.Name != "" {
			r = r.WithContext(login.With(r.Context(), *who))
		}
		pages.ServeHTTP(w, r)
	}))
	post := func(name, kind string, body object, want int) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/api/v1/actions/"+name, strings.NewReader(textOf(t, body)))
		r.Header.Set("Content-Type", kind)
		answer, bad := api.Do(t, r)
		if described := bad == nil; answer.Code != want || described != (want != 400 && want != 415) {
			t.Errorf("%s %v: %d %s, want %d; the description says %v", name, body, answer.Code, answer.Body, want, bad)
		}
	}
	for _, a := range page.AllActions() {
		example := orders[a.Name].example
		*who = chief
		post(a.Name, jsonType, example, 200)
		post(a.Name, form, example, 415)
		post(a.Name, jsonType, object{}, 400)
		more := maps.Clone(example)
		more["more"] = 1
		post(a.Name, jsonType, more, 400)
		*who = viewer
		post(a.Name, jsonType, example, 403)
		*who = login.Person{}
		post(a.Name, jsonType, example, 401)
	}
	*who = chief
	api.Get(t, "/api/v1/actions/revert")
}
