package cuefile

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func declared[T any](line int, v T) *desired.Declared[T] {
	return &desired.Declared[T]{Value: v, Origin: desired.Origin{File: "f.cue", Line: line, Column: 1}}
}

// full is a zone that declares every member that has an origin.
func full() desired.Zone {
	at := desired.Origin{File: "f.cue", Line: 1, Column: 1}
	override := desired.Override{Enabled: declared(20, true), Action: declared(21, edge.ActionLog), Sensitivity: declared(22, "low")}
	return desired.Zone{Key: "shop.example", Deployments: []desired.Deployment{{
		Ruleset: "core", Origin: at, Enabled: *declared(2, false), Version: declared(3, "3"), Expression: declared(4, "true"),
		ExpressionDrift: declared(5, desired.RestoreDrift), Paranoia: declared(6, 2),
		Threshold: &desired.Threshold{Score: *declared(7, 40), Action: *declared(8, edge.ActionBlock)},
		Disable:   desired.Disable{Rules: []desired.Declared[desired.RuleRef]{*declared(9, desired.RuleRef{Ref: "a"})}, Tags: []desired.Declared[string]{*declared(10, "php")}},
		All:       override,
		Tags:      []desired.TagOverride{{Tag: "xss", Origin: at, Override: override}},
		Rules:     []desired.RuleOverride{{Rule: desired.RuleRef{Ref: "b"}, Origin: at, Override: override}},
		Unmanaged: declared(11, desired.Keep), Bypass: declared(12, desired.RemoveBypass),
		Accepted:  []desired.Accepted{{Rule: "a", Origin: at, Owner: "team", Expression: "true", All: true}},
		Decisions: []desired.Decision{{Unmanaged: desired.Keep, Tag: "x", Origin: at}, {Unmanaged: desired.Remove, Version: true, Origin: at}},
	}}}
}

// Each member that is written has the place where it is declared, so that a change of one
// that zones share says where it comes from.
func TestEachMemberHasAnOrigin(t *testing.T) {
	z := full()
	fields := fieldsOf(z, Words{})
	if len(fields) < 17 {
		t.Fatalf("only %d members", len(fields))
	}
	for _, f := range fields {
		if (Change{Path: f.path}).Origin(z).IsZero() {
			t.Errorf("%s has no origin", f.path)
		}
	}
}

// A zone that leaves what it shares declares all of it, wherever and however it was written.
func TestLeave(t *testing.T) {
	zone := desired.Zone{Key: "shop.example", Deployments: []desired.Deployment{{
		Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}, Paranoia: declared(1, 2), Version: declared(2, "3"),
		Disable: desired.Disable{Tags: []desired.Declared[string]{*declared(3, "php")}},
	}}}
	const alone = "waf: core: {\n\t\t\tversion:  \"3\"\n\t\t\tparanoia: 2\n\t\t\tdisable: tags: [\"php\"]\n\t\t}"
	for _, test := range []struct{ name, zone, want, shared string }{
		{"a chain", `"shop.example": waf: _tier`, "\"shop.example\": " + strings.ReplaceAll(alone, "\n\t", "\n"), "_tier"},
		{"a chain with a comment", `"shop.example": waf: _tier // id 1`, "\"shop.example\": {\n\t\t// id 1\n\t\t" + alone + "\n\t}", "_tier"},
		{"one line", `"shop.example": {id: "1", waf: _tier}`, "\"shop.example\": {\n\t\tid: \"1\"\n\t\t" + alone + "\n\t}", "_tier"},
		{"one line with a comment", `"shop.example": {id: "1", waf: _tier} // ours`, "\"shop.example\": {\n\t\t// ours\n\t\tid: \"1\"\n\t\t" + alone + "\n\t}", "_tier"},
		{"two in one line", `"shop.example": {waf: _tier, waf: core: paranoia: 3, id: "1"}`, "\"shop.example\": {\n\t\t" + alone + "\n\t\tid: \"1\"\n\t}", "_tier"},
		{
			"a block with exceptions", "\"shop.example\": {\n\t\t// id 1\n\t\twaf: _tier\n\t\twaf: core: threshold: score: 60\n\t\tlabels: tier: \"gold\"\n\t}",
			"\"shop.example\": {\n\t\t// id 1\n\t\t" + alone + "\n\t\tlabels: tier: \"gold\"\n\t}", "_tier",
		},
		{"a conjunction", "\"shop.example\": waf: _gold & {core: paranoia: 3} & _strict", "\"shop.example\": " + strings.ReplaceAll(alone, "\n\t", "\n"), "_gold _strict"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := func(zone string) string {
				return "package edge\n\naccount: prod: zone: {\n\t// Before.\n\t" + zone + "\n\t\"z.example\": waf: _tier // id 2\n}\n"
			}
			got, err := Leave([]byte(file(test.zone)), "prod", zone, Words{})
			if err != nil || string(got) != file(test.want) {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, file(test.want))
			}
			if shared := strings.Join(Shared([]byte(file(test.zone)), "prod", zone.Key), " "); shared != test.shared {
				t.Errorf("shares %q, want %q", shared, test.shared)
			}
			cleared, err := Clear([]byte(file(test.zone)), "prod", zone.Key)
			if err != nil || strings.Contains(string(cleared), "core") || !strings.Contains(string(cleared), "z.example") {
				t.Errorf("%v: cleared\n%s", err, cleared)
			}
		})
	}
	if _, err := Leave([]byte("package edge\n"), "prod", zone, Words{}); err == nil {
		t.Error("a file that does not declare the zone is edited")
	}
	if _, err := Leave([]byte("package edge\naccount: prod: zone: \"shop.example\": id: \"1\"\n"), "prod", zone, Words{}); err == nil {
		t.Error("a zone that takes all from elsewhere leaves it")
	}
}
