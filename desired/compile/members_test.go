package compile

import (
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
)

// pathsOf are the members that a definition of the schema has, lists and single values.
func pathsOf(t *testing.T, v cue.Value, below string) (paths []string) {
	t.Helper()
	fields, err := v.Fields(cue.Optional(true))
	must.Do(t, err)
	for fields.Next() {
		path := at(below, fields.Selector().Unquoted())
		var members []string
		if fields.Value().IncompleteKind() == cue.StructKind {
			members = pathsOf(t, fields.Value(), path)
		}
		if members == nil { // a value, or a struct with keys of any name
			members = []string{path}
		}
		paths = append(paths, members...)
	}
	return paths
}

// What the schema lets a deployment and an override declare is what the tables have, or it
// would be taken and then forgotten.
func TestMembersAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	v, err := schema.Definition(cuecontext.New(), "#Desired")
	must.Do(t, err)
	v = v.FillPath(cue.ParsePath("account.a.zone.z.waf.r"), struct{}{})
	deployment := v.LookupPath(cue.ParsePath("account.a.zone.z.waf.r"))
	rule := deployment.LookupPath(cue.MakePath(cue.Str("rules").Optional(), cue.AnyIndex))
	hold := func(what string, v cue.Value, table []string) {
		said := pathsOf(t, v, "")
		slices.Sort(said)
		slices.Sort(table)
		if !slices.Equal(said, table) {
			t.Errorf("%s has %q, the table %q", what, said, table)
		}
	}
	ofDeployment, ofRule := []string{}, []string{"id", "ref", "description"}
	for _, m := range desired.DeploymentMembers {
		ofDeployment = append(ofDeployment, m.Path)
	}
	for _, d := range desired.Declarations {
		if _, behind, at := cutPath(d.Path); at {
			ofDeployment = append(ofDeployment, strings.Join(behind, "."))
		}
	}
	for _, m := range desired.OverrideMembers {
		ofRule = append(ofRule, m.Path)
	}
	hold("a deployment", deployment, ofDeployment)
	hold("an override on a rule", rule, ofRule)
}
