package compile_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

const testedZone = `package edge

account: prod: zone: "shop.example": {
	id: "` + id2 + `"
	waf: {}
	rules: custom: admin: {expression: #"http.request.uri.path eq "/admin""#, action: "block"}
}
`

func testOf(name, path, expect string) string {
	return `
test: ` + name + `: {
	zone: "shop.example"
	request: url: "` + path + `"
	expect: "` + expect + `"
}
`
}

// A test runs in each folder that has it and its zone; it may be inherited, and must run somewhere.
func TestTestsOfRules(t *testing.T) {
	account := "package edge\n\naccount: prod: id: \"" + id1 + "\"\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // of the first problem; empty for none
	}{
		"passes":       {map[string]string{"a/z.cue": testedZone + testOf("t", "/admin", "block")}, ""},
		"fails":        {map[string]string{"a/z.cue": testedZone + testOf("t", "/x", "block")}, "a/z.cue:12:2: test.t.expect: expects block, and the result is none"},
		"nothing":      {map[string]string{"a/z.cue": testedZone + strings.Replace(testOf("t", "/x", ""), `expect: ""`, "expect: {}", 1)}, "a/z.cue:12:2: test.t.expect: expects nothing"},
		"inherited":    {map[string]string{"t.cue": account + testOf("t", "/admin", "block"), "a/z.cue": testedZone, "b/z.cue": "package edge\n"}, ""},
		"fails there":  {map[string]string{"t.cue": account + testOf("t", "/x", "block"), "a/z.cue": testedZone}, "t.cue:8:2: test.t.expect: expects block, and the result is none"},
		"other folder": {map[string]string{"t.cue": account, "b/t.cue": "package edge\n" + testOf("t", "/admin", "block"), "a/z.cue": testedZone}, `b/t.cue:3:7: test.t.zone: no folder has both the test and the zone "shop.example" alone`},
		"no zone":      {map[string]string{"b/t.cue": account + testOf("t", "/admin", "block")}, `b/t.cue:5:7: test.t.zone: there is no zone "shop.example"`},
		"twice": {
			map[string]string{"a/z.cue": testedZone + testOf("t", "/admin", "block"), "b/z.cue": "package edge\n" + testOf("t", "/", "none")},
			"b/z.cue:3:7: test.t: is declared twice, with different values",
		},
	} {
		c.files["cue.mod/module.cue"] = mod
		_, problems := compiletest.Tree(tree(c.files), ".", "")
		got := ""
		if errs := desired.Errors(problems); len(errs) > 0 {
			got = errs[0].String()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A commit that changes a test alone is held to it, as one that changes its zone.
func TestMergerRunsTests(t *testing.T) {
	unit := func(text string) []compile.Unit {
		return []compile.Unit{new(compile.Compiler).Folder(tree(map[string]string{"a/z.cue": text}), "a")}
	}
	whole := strings.Replace(testedZone, "account: prod:", "account: prod: id: \""+id1+"\"\naccount: prod:", 1)
	var m compile.Merger
	for i, c := range []struct {
		text string
		errs int
	}{
		{whole + testOf("t", "/admin", "block"), 0},
		{whole + testOf("t", "/x", "block"), 1},
		{whole + testOf("t", "/x", "none"), 0},
		{strings.Replace(whole, `eq "/admin"`, `eq "/x"`, 1) + testOf("t", "/x", "none"), 1},
		{strings.ReplaceAll(whole, "shop.example", "b.example") + testOf("t", "/x", "none"), 1},
		{whole, 0},
	} {
		if _, problems := m.Merge(unit(c.text), "c"); len(desired.Errors(problems)) != c.errs {
			t.Errorf("commit %d: %v", i, problems)
		}
	}
}

// A rule that blocks an address from which a token is used is warned of, whichever folder has it,
// and however the commit before was merged.
func TestMergerFindsOwnAddresses(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(testedZone, "shop.example", "b.example"), id2, strings.Repeat("b", 32))
	blocks := func(text, address string) string {
		return strings.Replace(text, `#"http.request.uri.path eq "/admin""#`, `"ip.src eq `+address+`"`, 1)
	}
	const token = `
token: ci: {
	policies: [{effect: "allow", resources: "com.vendor.api.account.zone.*": "*", permission_groups: [{id: "c8fed203ed3043cba015a93ad1616f1f"}]}]
	condition: "request.ip": in: ["203.0.113.0/24"]
	sink: {name: "files", key: "ci"}
}
`
	var m compile.Merger
	for i, c := range []struct {
		a, b string
		want string
	}{
		{testedZone, other, ""},
		{blocks(testedZone, "203.0.113.7"), other, "a/z.cue:6:25: account.prod.zone.\"shop.example\".rules.custom.admin.expression: 203.0.113.7 is yours"},
		{blocks(testedZone, "203.0.114.7"), other, ""},
		{testedZone, blocks(other, "203.0.113.8"), "b/z.cue:6:25: account.prod.zone.\"b.example\".rules.custom.admin.expression: 203.0.113.8 is yours"},
		{testedZone, "package edge\n", ""},
	} {
		files := tree(map[string]string{"cue.mod/module.cue": mod, "account.cue": "package edge\n\naccount: prod: id: \"" + id1 + "\"\n", "a/z.cue": c.a, "b/z.cue": c.b, "t/t.cue": "package edge\n" + token})
		_, problems := m.Merge([]compile.Unit{new(compile.Compiler).Folder(files, "a"), new(compile.Compiler).Folder(files, "b"), new(compile.Compiler).Folder(files, "t")}, "")
		got := ""
		for _, p := range problems {
			if strings.Contains(p.Message, "is yours") {
				got, _, _ = strings.Cut(p.String(), ": token")
			}
		}
		if errs := desired.Errors(problems); len(errs) > 0 || got != c.want {
			t.Errorf("commit %d: %q, want %q (errors: %v)", i, got, c.want, errs)
		}
	}
}
