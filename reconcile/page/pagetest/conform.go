package pagetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// API holds what a handler of pages answers under /api/v1 to its description.
type API struct {
	Document *openapi3.T
	router   routers.Router
	handler  http.Handler
}

// NewAPI reads the description. A member that it does not have is refused in answers: clients
// are to expect some, and Seawall is to describe all.
func NewAPI(t testing.TB, handler http.Handler) *API {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(page.OpenAPI)
	must.Do(t, err)
	for _, schema := range document.Components.Schemas {
		if none := false; schema.Value.Properties != nil {
			schema.Value.AdditionalProperties.Has = &none
		}
	}
	router, err := legacy.NewRouter(document)
	must.Do(t, err)
	return &API{document, router, handler}
}

// Get asks for a path; see [API.Do].
func (a *API) Get(t testing.TB, path string) (answer *httptest.ResponseRecorder, bad error) {
	t.Helper()
	return a.Do(t, httptest.NewRequest(http.MethodGet, path, nil))
}

// Do sends a request, and fails a test whose answer is not as described. It returns the answer,
// and what the description says against the request.
func (a *API) Do(t testing.TB, request *http.Request) (answer *httptest.ResponseRecorder, bad error) {
	t.Helper()
	route, parameters, err := a.router.FindRoute(request)
	if err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL, err)
	}
	asked := &openapi3filter.RequestValidationInput{Request: request, Route: route, PathParams: parameters, QueryParams: request.URL.Query()}
	bad = openapi3filter.ValidateRequest(t.Context(), asked)
	answer = httptest.NewRecorder()
	a.handler.ServeHTTP(answer, request)
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: answer.Code, Header: answer.Header(), Body: io.NopCloser(answer.Result().Body),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s is answered with %d, which is not as openapi.json describes it: %v", request.Method, request.URL, answer.Code, err)
	}
	return answer, bad
}
