package cuefile

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// field is one member of what a zone runs, as CUE text.
type field struct {
	path  string   // below waf: core.threshold.score
	value string   // the text of a single value; empty for a list
	items []string // the texts of a list's elements, in order
	notes []string // a comment for each of the items
	kind  string   // what another value may be: int, string; empty for what has no other value in a tier
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

// describer says in words what a rule is.
type describer func(ruleset string, ref desired.RuleRef) string

// fieldsOf are the members that a zone's deployments declare, in the order in which
// people read them.
func fieldsOf(z desired.Zone, describe describer) []field {
	var all []field
	for _, d := range z.Deployments {
		w := writer{prefix: Label(d.Ruleset), ruleset: d.Ruleset, describe: describe}
		w.deployment(d)
		all = append(all, w.fields...)
	}
	return all
}

type writer struct {
	prefix, ruleset string
	describe        describer
	fields          []field
}

func (w *writer) one(path, value, kind string) {
	w.fields = append(w.fields, field{path: w.prefix + "." + path, value: value, kind: kind})
}

func (w *writer) list(path string, items, notes []string) {
	if len(items) > 0 {
		w.fields = append(w.fields, field{path: w.prefix + "." + path, items: items, notes: notes, kind: "[...]"})
	}
}

func (w *writer) deployment(d desired.Deployment) {
	before := len(w.fields)
	if d.Deploy {
		w.one("deploy", "true", "bool")
	}
	if d.Prune {
		w.one("prune", "true", "bool")
	}
	if !d.Enabled.Value {
		w.one("enabled", "false", "")
	}
	if d.Version != nil {
		w.one("version", String(d.Version.Value), "string")
	}
	if d.Expression != nil {
		w.one("expression", String(d.Expression.Value), "string")
	}
	if d.ExpressionDrift != nil {
		w.one("expression_drift", String(string(d.ExpressionDrift.Value)), "string")
	}
	if d.Paranoia != nil {
		w.one("paranoia", strconv.Itoa(d.Paranoia.Value), "int")
	}
	if t := d.Threshold; t != nil {
		w.one("threshold.score", strconv.Itoa(t.Score.Value), "int")
		w.one("threshold.action", String(string(t.Action.Value)), "string")
	}
	w.disable(d.Disable)
	w.all(d.All)
	w.overrides(d)
	if d.Unmanaged != nil {
		w.one("unmanaged", String(string(d.Unmanaged.Value)), "string")
	}
	w.decisions(d.Decisions)
	if len(w.fields) == before {
		w.fields = append(w.fields, field{path: w.prefix, value: "{}"})
	}
}

func (w *writer) disable(d desired.Disable) {
	var items, notes []string
	for _, ref := range d.Rules {
		items, notes = append(items, RuleRef(ref.Value)), append(notes, w.about(ref.Value))
	}
	w.list("disable.rules", items, notes)
	items = nil
	for _, tag := range d.Tags {
		items = append(items, String(tag.Value))
	}
	w.list("disable.tags", items, nil)
}

func (w *writer) all(o desired.Override) {
	if o.Enabled != nil {
		w.one("all.enabled", strconv.FormatBool(o.Enabled.Value), "bool")
	}
	if o.Action != nil {
		w.one("all.action", String(string(o.Action.Value)), "string")
	}
	if o.Sensitivity != nil {
		w.one("all.sensitivity", String(o.Sensitivity.Value), "string")
	}
}

func (w *writer) overrides(d desired.Deployment) {
	var items, notes []string
	for _, o := range d.Tags {
		items = append(items, TagOverride(o))
	}
	w.list("tags", items, nil)
	items = nil
	for _, o := range d.Rules {
		items, notes = append(items, RuleOverride(o)), append(notes, w.about(o.Rule))
	}
	w.list("rules", items, notes)
}

func (w *writer) decisions(all []desired.Decision) {
	for _, as := range []desired.Unmanaged{desired.Keep, desired.Remove} {
		var items, notes []string
		for _, d := range all {
			if d.Unmanaged == as {
				note := ""
				if !d.All && !d.Version && d.Tag == "" {
					note = w.about(d.Rule)
				}
				items, notes = append(items, Decision(d)), append(notes, note)
			}
		}
		w.list(string(as), items, notes)
	}
}

func (w *writer) about(ref desired.RuleRef) string {
	if w.describe == nil {
		return ""
	}
	return comment(w.describe(w.ruleset, ref))
}

// RuleRef is the text of a reference to a rule in a list of disabled ones.
func RuleRef(ref desired.RuleRef) string {
	if ref.ByID() {
		return String(string(ref.ID))
	}
	return "{" + named(ref) + "}"
}

// TagOverride is the text of one.
func TagOverride(o desired.TagOverride) string {
	return "{tag: " + String(o.Tag) + members(o.Override) + "}"
}

// RuleOverride is the text of one.
func RuleOverride(o desired.RuleOverride) string {
	return "{" + named(o.Rule) + members(o.Override) + "}"
}

// Decision is the text of what one names.
func Decision(d desired.Decision) string {
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

func members(o desired.Override) string {
	var b strings.Builder
	if o.Enabled != nil {
		fmt.Fprintf(&b, ", enabled: %v", o.Enabled.Value)
	}
	if o.Action != nil {
		fmt.Fprintf(&b, ", action: %s", String(string(o.Action.Value)))
	}
	if o.Sensitivity != nil {
		fmt.Fprintf(&b, ", sensitivity: %s", String(o.Sensitivity.Value))
	}
	if o.Score != nil {
		fmt.Fprintf(&b, ", score: %d", o.Score.Value)
	}
	return b.String()
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
