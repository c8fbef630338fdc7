package compile_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

// usesCopy is a folder as `seawall init` writes it: it embeds the copy of the schema, and
// uses its helpers.
const usesCopy = `package z

import "example.com/edge/seawall"

seawall.#Desired

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": waf: core: paranoia: 2
}
token: one: policies: [{
	effect:            "allow"
	resources:         seawall.#AllZonesResource.resources
	permission_groups: [{id: "g"}]
}]
`

func withCopy(files map[string]string) fstest.MapFS {
	fsys := exported()
	fsys["cue.mod/module.cue"] = &fstest.MapFile{Data: []byte("module: \"example.com/edge@v0\"\nlanguage: version: \"v0.16.0\"\n")}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// Every place of a state is in a file that a person wrote, on the same line as without the copy.
func TestNoPlaceIsInTheCopyOfTheSchema(t *testing.T) {
	state, problems := compiletest.Tree(withCopy(map[string]string{"z/a.cue": usesCopy}), ".", "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	data, err := json.Marshal(state)
	if err != nil || strings.Contains(string(data), "seawall/") {
		t.Errorf("a place is in the copy: %s (%v)", data, err)
	}
	if at := state.Tokens[0].Policies[0].Origin; at != (desired.Origin{File: "z/a.cue", Line: 12, Column: 24}) {
		t.Errorf("the policy is at %s", at)
	}
	bare := strings.NewReplacer("seawall.#Desired\n", "\n", "seawall.#AllZonesResource.resources", `"com.vendor.api.account.zone.*": "*"`,
		`import "example.com/edge/seawall"`, "").Replace(usesCopy)
	without, problems := compiletest.Tree(withCopy(map[string]string{"z/a.cue": bare}), ".", "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, _ := json.Marshal(without)
	column := regexp.MustCompile(`"column":\d+`) // of the label, or of the value
	if got, want := column.ReplaceAllString(string(data), ""), column.ReplaceAllString(string(want), ""); got != want {
		t.Errorf("with the copy the state is\n%s\nand without\n%s", data, want)
	}
}

// A copy of another version is one too. A package of a person that only has the same name
// is not: its places are shown.
func TestWhatIsACopyOfTheSchema(t *testing.T) {
	older := withCopy(map[string]string{"z/a.cue": strings.Replace(usesCopy, `{id: "g"}`, `{name: 3}`, 1)})
	older["seawall/tokens.cue"] = &fstest.MapFile{Data: append([]byte("// An older one.\n\n"), older["seawall/tokens.cue"].Data...)}
	if _, problems := compiletest.Tree(older, ".", ""); len(problems) != 1 || problems[0].Origin.File != "z/a.cue" {
		t.Errorf("with an older copy: %v", problems)
	}
	own := withCopy(map[string]string{
		"z/a.cue":                "package z\n\nimport \"example.com/edge/own/seawall\"\n\naccount: prod: seawall.#Prod\n",
		"own/seawall/tokens.cue": "package seawall\n\n#Prod: {\n\tid: \"0a01\"\n\tname: \"Production\"\n}\n",
	})
	if _, problems := compiletest.Tree(own, ".", ""); len(problems) != 1 || problems[0].Origin.File != "own/seawall/tokens.cue" {
		t.Errorf("with a package of one's own: %v", problems)
	}
	// In the folder of the copy itself a mistake is shown where it is.
	broken := withCopy(map[string]string{"z/a.cue": "package z\n"})
	broken["seawall/tokens.cue"].Data = append(broken["seawall/tokens.cue"].Data, "\n#Rotate: 3\ntoken: 3\n"...)
	if _, problems := compiletest.Tree(broken, ".", ""); len(problems) == 0 || problems[0].Origin.File != "seawall/tokens.cue" {
		t.Errorf("with a broken copy: %v", problems)
	}
}
