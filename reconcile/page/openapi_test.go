package page_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

var update = flag.Bool("update", false, "write openapi.json")

// TestOpenAPI holds the description to the table of resources and the types of their values.
func TestOpenAPI(t *testing.T) {
	want := textOf(t, description(t))
	document, err := openapi3.NewLoader().LoadFromData([]byte(want))
	must.Do(t, err)
	must.Do(t, document.Validate(t.Context()))
	if *update {
		must.Do(t, os.WriteFile("openapi.json", []byte(want), 0o644))
	} else if want != string(page.OpenAPI) {
		t.Error("openapi.json is not what the table of resources and its types say; run the test with -update")
	}
}

func textOf(t *testing.T, value object) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	must.Do(t, encoder.Encode(value))
	return b.String()
}

type object = map[string]any

// description is the OpenAPI document.
func description(t *testing.T) object {
	schemas := newSchemas(t)
	paths := object{}
	h := page.Handler(page.Config{Data: pagetest.New(2)})
	for _, row := range page.Rows() {
		name, summary := schemas.of(row.Of)
		answer := object{"schema": ref("schemas", name), "example": exampleOf(t, h, row.API)}
		responses := object{
			"200": object{"description": summary, "content": object{"application/json": answer}},
			"400": ref("responses", "400"), "401": ref("responses", "401"), "500": ref("responses", "500"),
			"503": ref("responses", "503"),
		}
		if row.Fleet {
			responses["403"] = ref("responses", "403")
		}
		get := object{"operationId": operationID(row.API), "summary": summary, "responses": responses}
		if parameters := parametersOf(t, row); len(parameters) > 0 {
			get["parameters"] = parameters
		}
		if strings.Contains(row.API, "{") {
			responses["404"] = ref("responses", "404")
		}
		paths[row.API] = object{"get": get}
	}
	describeActions(t, schemas, paths)
	problem, _ := schemas.of(reflect.TypeFor[page.Problem]())
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Seawall", "version": "1",
			"description": "What a daemon of Seawall knows. Version 1 may get new members and outcomes; none is removed or changes its meaning.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []any{object{"url": "/"}},
		"security":   []any{},
		"paths":      paths,
		"components": object{"schemas": schemas.all, "responses": problemResponses(t, h, problem)},
	}
}

// operationID names what a client calls: getZonesByScope.
func operationID(path string) string {
	id := "get"
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/api/v1/"), "/") {
		if inner, ok := strings.CutPrefix(part, "{"); ok {
			id, part = id+"By", strings.TrimSuffix(inner, "}")
		}
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

// problemResponses are the answers that are no value.
func problemResponses(t *testing.T, h http.Handler, schema string) object {
	responses := object{}
	for status, description := range map[string]string{
		"400": "A parameter or a member of the body is unknown, wrong, missing or given too often.",
		"401": "The request has no login, and one is configured.",
		"403": "The user has no right to this: it needs a role for the whole fleet, or the role operator.",
		"404": "It does not exist, or the user may not see it.",
		"409": "The action does not fit what the daemon knows now.",
		"413": "The body is too large.",
		"415": "The body is not JSON, or its Content-Type is another one.",
		"500": "The daemon could not answer; its log says why.",
		"503": "The daemon starts or stops, or its database does not answer: it can neither say nor do this now.",
	} {
		content := object{"schema": ref("schemas", schema)}
		if path, ok := map[string]string{"400": "/zones?outcom=refused", "404": "/zones/none"}[status]; ok {
			content["example"] = exampleOf(t, h, "/api/v1"+path)
		}
		responses[status] = object{"description": description, "content": object{"application/problem+json": content}}
	}
	return responses
}

// pathParams are the parameters in paths, with a value of [pagetest].
var pathParams = map[string]struct {
	help, example string
	schema        object
}{
	"scope":  {"the id of a zone, or `account:` and the id of an account", pagetest.Scope(0).Text(), object{"type": "string"}},
	"commit": {"a commit, or the beginning of one", pagetest.Commit, commitSchema},
	"number": {"the number of the pull request", "104", object{"type": "integer"}},

	"published": {"the number of the version in the list", strconv.Itoa(pagetest.NewestVersion), object{"type": "integer"}},
}

var commitSchema = object{"type": "string", "pattern": "^[0-9a-f]{4,64}$"}

// querySchemas are those of parameters that are not any text.
var querySchemas = map[string]object{
	"outcome": {"type": "string", "enum": inspect.Outcomes()},
	"label":   {"type": "string", "pattern": "^[^=]+="},
	"commit":  commitSchema,
	"since":   {"type": "string", "pattern": `^([0-9.]+(h|m|s|ms|us|µs|ns|d|h[0-9hms.]*|m[0-9ms.]*)|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+))?)$`},
}

func parametersOf(t *testing.T, row page.Row) (all []any) {
	for segment := range strings.SplitSeq(row.API, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			p, ok := pathParams[name]
			if !ok {
				t.Fatalf("%s: say in pathParams what %s is", row.API, name)
			}
			all = append(all, object{"name": name, "in": "path", "required": true, "description": p.help, "schema": p.schema})
		}
	}
	for _, p := range row.Params {
		schema, ok := querySchemas[p.Name]
		if !ok {
			schema = object{"type": "string"}
		}
		if p.Repeat {
			schema = object{"type": "array", "items": schema}
		}
		all = append(all, object{"name": p.Name, "in": "query", "description": p.Help, "schema": schema})
	}
	return all
}
