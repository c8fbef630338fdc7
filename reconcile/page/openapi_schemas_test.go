package page_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// schemas are those of Go types, with what their comments say. They allow more members than
// they name: members may be added within a version.
type schemas struct {
	t         *testing.T
	reflector jsonschema.Reflector
	all       map[string]*jsonschema.Schema
	types     map[string]reflect.Type
}

func newSchemas(t *testing.T) *schemas {
	s := &schemas{t: t, all: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{}}
	for _, folder := range []string{"..", "../../diff", "../../desired"} {
		must.Do(t, s.reflector.AddGoComments("github.com/seawall-dev/seawall/reconcile/page", folder, jsonschema.WithFullComment()))
	}
	s.reflector.Anonymous, s.reflector.AllowAdditionalProperties = true, true
	s.reflector.Mapper, s.reflector.Namer, s.reflector.LookupComment = plainType, s.name, s.comment
	return s
}

// of adds the schema of a type, and returns its name and the first sentence about it.
func (s *schemas) of(of reflect.Type) (name, summary string) {
	root := s.reflector.ReflectFromType(of)
	for name, schema := range root.Definitions {
		s.all[name] = schema
		inComponents(schema)
	}
	name = s.name(of)
	summary, _, _ = strings.Cut(s.all[name].Description, ". ")
	return name, strings.TrimSuffix(summary, ".")
}

// inComponents has the references of a schema point to where OpenAPI has schemas.
func inComponents(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	schema.Ref = strings.Replace(schema.Ref, "#/$defs/", "#/components/schemas/", 1)
	inComponents(schema.Items)
	inComponents(schema.AdditionalProperties)
	if schema.Properties != nil {
		for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
			inComponents(p.Value)
		}
	}
}

// name is the name of a type, of which there is one.
func (s *schemas) name(of reflect.Type) string {
	if of.Kind() != reflect.Struct || of.Name() == "" {
		return of.Name()
	}
	name := of.Name()
	if of.PkgPath() == reflect.TypeFor[radar.Rule]().PkgPath() {
		name = "Radar" + name
	}
	if other, ok := s.types[name]; ok && other != of {
		s.t.Errorf("%v and %v have the same name in the description of the API", other, of)
	}
	s.types[name] = of
	return name
}

// plainType is the schema of a type that is no struct in JSON, or has few values.
func plainType(of reflect.Type) *jsonschema.Schema {
	switch of {
	case reflect.TypeFor[edge.Scope]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[deprecation.Date]():
		return &jsonschema.Schema{Type: "string", Format: "date"}
	case reflect.TypeFor[diff.Seconds]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[inspect.Outcome]():
		return enum(append(inspect.Outcomes(), inspect.Quarantined, inspect.Undelivered)...)
	case reflect.TypeFor[inspect.Mode]():
		return enum(inspect.ModeApply, inspect.ModeObserve, inspect.ModeMixed)
	case reflect.TypeFor[diff.Direction]():
		return enum(diff.Strengthens, diff.Weakens, diff.Neutral)
	case reflect.TypeFor[diff.BypassState]():
		return enum(diff.BypassFound, diff.BypassNew, diff.BypassChanged, diff.BypassAccepted, diff.BypassDiffers, diff.BypassExpired, diff.BypassElsewhere)
	case reflect.TypeFor[desired.KindName]():
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

func enum[T any](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

var (
	goLink  = regexp.MustCompile(`\[([A-Za-z.]+)\]`)
	goSee   = regexp.MustCompile(`[;:,] see \[[^;.]*`)
	goZero  = regexp.MustCompile(`\b(zero|nil|empty): `)
	goBegin = regexp.MustCompile(`^[A-Z]\w+ (is |are |has |says )?`)
)

// better are descriptions of fields whose comments are for readers of Go.
var better = map[string]string{
	"as in [diff.ID]":                                "the kind of the rule; absent: a deployment of a managed ruleset",
	"one of the actions below":                       "what was done, for example `update`, `accept` or `hold`",
	"UTC; zero: the store fills in its clock":        "when, by the clock of the daemon",
	"for [FleetQuery].After; empty: no page follows": nextPage,
}

const nextPage = "the parameter `after` of the next page; absent: this is the last"

// comment is what the comment of a type or of a field says, for readers of JSON.
func (s *schemas) comment(of reflect.Type, field string) string {
	key := of.PkgPath() + "." + of.Name()
	if field == "" {
		return goLink.ReplaceAllString(goBegin.ReplaceAllString(oneLine(s.reflector.CommentMap[key]), ""), "$1")
	}
	text := oneLine(s.reflector.CommentMap[key+"."+field])
	if field == "Next" && text == "" {
		return nextPage
	}
	if better[text] != "" {
		return better[text]
	}
	text = goLink.ReplaceAllString(goSee.ReplaceAllString(text, ""), "$1")
	f, _ := of.FieldByName(field)
	if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); options != "" {
		text = goZero.ReplaceAllString(text, "absent: ")
	}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			text = regexp.MustCompile(`\b`+f.Name+`\b`).ReplaceAllString(text, "`"+name+"`")
		}
	}
	return entryKind.ReplaceAllStringFunc(text, func(kind string) string { return "`" + strings.ToLower(kind[len("Entry"):]) + "`" })
}

// entryKind is the name of a constant.
var entryKind = regexp.MustCompile(`\bEntry[A-Z]\w+`)

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// exampleOf is an answer, with at most one entry in each list.
func exampleOf(t *testing.T, h http.Handler, path string) any {
	for name, p := range pathParams {
		path = strings.ReplaceAll(path, "{"+name+"}", p.example)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var value any
	must.Do(t, json.Unmarshal(w.Body.Bytes(), &value))
	return shortened(value)
}

func shortened(value any) any {
	switch value := value.(type) {
	case object:
		for name, member := range value {
			value[name] = shortened(member)
		}
	case []any:
		for i := range value {
			value[i] = shortened(value[i])
		}
		return value[:min(len(value), 1)]
	}
	return value
}
