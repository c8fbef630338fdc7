package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestPlaces: each place from which a member of the configuration is read is one that the
// schema has.
func TestPlaces(t *testing.T) {
	config, err := schema.Definition(cuecontext.New(), "#Config")
	must.Do(t, err)
	read := 0
	var walk func(of reflect.Type, v cue.Value)
	walk = func(of reflect.Type, v cue.Value) {
		switch of.Kind() {
		case reflect.Pointer:
			walk(of.Elem(), v)
		case reflect.Map:
			walk(of.Elem(), v.LookupPath(cue.MakePath(cue.AnyString)))
		case reflect.Slice:
			walk(of.Elem(), v.LookupPath(cue.MakePath(cue.AnyIndex)))
		case reflect.Struct:
			for i := range of.NumField() {
				place, tagged := of.Field(i).Tag.Lookup("cue")
				if !tagged || v.IncompleteKind() != cue.StructKind { // or it may be a text, too
					continue
				}
				read++
				if member, ok := below(v, place); ok {
					walk(of.Field(i).Type, member)
				} else if v.Path().String() != "#Config.source.limits" || place != "pack" { // which a forge has
					t.Errorf("%s.%s: %v has no %s", of.Name(), of.Field(i).Name, v.Path(), place)
				}
			}
		}
	}
	walk(reflect.TypeFor[schema.Config](), config)
	walk(reflect.TypeFor[schema.Guards](), config)
	for name, of := range map[string]reflect.Type{"guards": reflect.TypeFor[schema.Guard](), "freezes": reflect.TypeFor[schema.Freeze](), "accounts": reflect.TypeFor[schema.Account]()} {
		walk(of, config.LookupPath(cue.MakePath(cue.Str(name), cue.AnyString)))
	}
	if read < 100 {
		t.Errorf("only %d members are read", read)
	}
}

// below finds a field of a schema, which may be optional.
func below(v cue.Value, place string) (cue.Value, bool) {
	for name := range strings.SplitSeq(strings.ReplaceAll(place, `"`, ""), ".") {
		found := false
		fields, err := v.Fields(cue.Optional(true))
		for err == nil && !found && fields.Next() {
			if found = fields.Selector().Unquoted() == name; found {
				v = fields.Value()
			}
		}
		if !found {
			return v, false
		}
	}
	return v, true
}
