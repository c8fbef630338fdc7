package cuefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// field is one member of what a zone runs, as CUE text.
type field struct {
	other bool     // of another kind than deployments: its path is below the zone, not below waf
	path  string   // below waf: core.threshold.score
	value string   // the text of a single value; empty for a list
	items []string // the texts of a list's elements, in order
	notes []string // a comment for each of the items
	kind  string   // what another value may be: int, string; empty for what has no other value in a tier
	below []field  // the members of an acceptance, which is one value that is edited by its members
}

// isList reports whether it is a list, which another one replaces as a whole.
func (f field) isList() bool { return f.value == "" }

// text is the value in one line, to compare with others.
func (f field) text() string {
	if !f.isList() {
		return f.value
	}
	return "[" + strings.Join(f.items, ", ") + "]"
}

// fieldsOf are the members that a zone's deployments declare, in the order in which
// people read them.
func fieldsOf(z desired.Zone, words Words) (all []field) {
	for _, d := range z.Deployments {
		before := len(all)
		for _, m := range desired.DeploymentMembers {
			if m.Type == desired.Acceptances {
				all = append(all, words.acceptances(z.Key, d)...)
				continue
			}
			f := field{path: Label(d.Ruleset) + "." + m.Path, kind: kindOf(m)}
			for v := range m.Declared(d) {
				switch {
				case m.Type.List():
					f.items, f.notes = append(f.items, Literal(v.Value)), append(f.notes, words.note(d.Ruleset, v.Rule()))
				case m.Default == nil || v.Value != m.Default:
					f.value = Literal(v.Value)
				}
			}
			if f.value != "" || len(f.items) > 0 {
				all = append(all, f)
			}
		}
		if len(all) == before {
			all = append(all, field{path: Label(d.Ruleset), value: "{}"})
		}
	}
	return all
}

// othersOf are the members of what a zone declares of other kinds than deployments.
func othersOf(z desired.Zone) (all []field) {
	for _, o := range z.Others {
		before := len(all)
		for m := range o.Members() {
			f := field{other: true, path: pathOf(o) + "." + m.Path}
			if items, list := m.Value.([]any); list {
				for _, item := range items {
					f.items = append(f.items, Literal(item))
				}
			} else {
				f.value = Literal(m.Value)
			}
			all = append(all, f)
		}
		if len(all) == before {
			all = append(all, field{other: true, path: pathOf(o), value: "{}"})
		}
	}
	return all
}

// pathOf is where something of another kind is declared, below the zone.
func pathOf(o desired.Other) string {
	labels := o.Path()
	for i := range labels {
		labels[i] = Label(labels[i])
	}
	return strings.Join(labels, ".")
}

// kindOf is what another value of a member may be in a tier. One with a default has none: what
// is written is its only other value.
func kindOf(m desired.MemberOf[desired.Deployment]) string {
	switch {
	case m.Type.List():
		return "[...]"
	case m.Default != nil:
		return ""
	case m.Type == desired.Score:
		return "int"
	}
	return string(m.Type)
}

// note is a comment that says what a rule is; empty for none.
func (w Words) note(ruleset string, ref desired.RuleRef) string {
	if w.Rule == nil || ref == (desired.RuleRef{}) {
		return ""
	}
	return comment(w.Rule(ruleset, ref))
}

// Literal is a value of a member as CUE; see [desired.Type].
func Literal(value any) string {
	switch v := value.(type) {
	case desired.RuleRef:
		if v.ByID() {
			return String(string(v.ID))
		}
		return "{" + named(v) + "}"
	case desired.TagOverride:
		return "{tag: " + String(v.Tag) + members(v.Override) + "}"
	case desired.RuleOverride:
		return "{" + named(v.Rule) + members(v.Override) + "}"
	case desired.Decision:
		return decision(v)
	case desired.Accepted:
		return acceptedLiteral(v)
	case string:
		return String(v)
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = Literal(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, Label(key)+": "+Literal(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case nil:
		return "null"
	}
	return fmt.Sprint(value) // a number, or whether
}

// decision is the text of what one names.
func decision(d desired.Decision) string {
	switch {
	case d.All:
		return "{all: true}"
	case d.Version:
		return "{version: true}"
	case d.Tag != "":
		return "{tag: " + String(d.Tag) + "}"
	}
	return "{" + named(d.Rule) + "}"
}

func named(ref desired.RuleRef) string {
	switch {
	case ref.Ref != "":
		return "ref: " + String(ref.Ref)
	case ref.Description != "":
		return "description: " + String(ref.Description)
	}
	return "id: " + String(string(ref.ID))
}

func members(o desired.Override) (text string) {
	for m := range o.Members() {
		text += ", " + m.Path + ": " + Literal(m.Value)
	}
	return text
}

// String is text as a CUE literal: raw where that spares escapes.
func String(s string) string {
	quoted := literal.String.Quote(s)
	if strings.Contains(quoted, `\`) && !strings.ContainsAny(s, "\n\r\t") && !strings.Contains(s, `"#`) && !strings.Contains(s, `\#`) {
		if raw := `#"` + s + `"#`; readsAs(raw, s) {
			return raw
		}
	}
	return quoted
}

func readsAs(text, s string) bool {
	back, err := literal.Unquote(text)
	return err == nil && back == s
}

var plainLabel = lazyregexp.New(`^[a-z][A-Za-z0-9_]*$`)

// Label is a key as a CUE label.
func Label(key string) string {
	if plainLabel().MatchString(key) && !ast.StringLabelNeedsQuoting(key) {
		return key
	}
	return literal.String.Quote(key)
}

// comment is text from the platform for a comment: one line, nothing that is not shown.
func comment(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !strconv.IsPrint(r):
			return -1
		}
		return r
	}, s)
	const longest = 300
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return strings.TrimSpace(s)
}
