package terraform

import (
	"bufio"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// ConfigJSON reads a configuration in JSON (.tf.json), as [Config] does the other
// form.
func ConfigJSON(r *bufio.Reader, out *call.Sink) error {
	text, err := out.Whole(r)
	if err != nil {
		return err
	}
	out.Stats.Lines = call.CountLines(text)
	if tooDeep(text) {
		return errDeep
	}
	file, diags := hcljson.Parse(text, "")
	if diags.HasErrors() {
		return problem(diags)
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "data", LabelNames: []string{"type", "name"}},
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"},
	}})
	if diags.HasErrors() {
		return problem(diags)
	}
	s := jsonScope(content.Blocks)
	for _, b := range content.Blocks {
		if err := jsonBlock(b, s, out); err != nil {
			return err
		}
	}
	return nil
}

// jsonScope takes the defaults of variables and the locals.
func jsonScope(blocks hcl.Blocks) *scope {
	s := &scope{variables: map[string]any{}, locals: map[string]hclsyntax.Expression{}}
	for _, b := range blocks {
		attributes, _ := b.Body.JustAttributes()
		for name, a := range attributes {
			switch {
			case b.Type == "variable" && name == "default":
				s.variables[b.Labels[0]] = s.filled(raw(a))
			case b.Type == "locals":
				s.locals[name] = template(a)
			}
		}
	}
	return s
}

func jsonBlock(b *hcl.Block, s *scope, out *call.Sink) error {
	if b.Type != "resource" && b.Type != "data" {
		return nil
	}
	attributes, diags := b.Body.JustAttributes()
	if diags.HasErrors() {
		return errors.New(strings.ToLower(diags[0].Summary))
	}
	r := resource{address: b.Labels[0] + "." + b.Labels[1], kind: b.Labels[0], data: b.Type == "data", line: b.DefRange.Start.Line, values: map[string]any{}}
	if r.data {
		r.address = "data." + r.address
	}
	for name, a := range attributes {
		r.values[name] = s.filled(raw(a))
	}
	for _, c := range r.calls() {
		if err := out.Offer(c); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		if err := jsonStrings(s.filled(raw(a)), a.Range.Start.Line, out); err != nil {
			return err
		}
	}
	return nil
}

// jsonStrings hands on the strings of a value that can be addresses.
func jsonStrings(v any, line int, out *call.Sink) error {
	switch v := v.(type) {
	case string:
		for address := range call.Addresses(v) {
			if err := out.Literal(call.Call{URL: address, Line: line}); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := jsonStrings(e, line, out); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range elements(v) {
			if err := jsonStrings(e, line, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func literal(a *hcl.Attribute) cty.Value {
	v, _ := a.Expr.Value(nil) // without a context templates stay as they are
	return v
}

// template is the value of an attribute as an expression: a text may be a template.
func template(a *hcl.Attribute) hclsyntax.Expression {
	if text, ok := raw(a).(string); ok {
		if e, diags := hclsyntax.ParseTemplate([]byte(text), "", hcl.InitialPos); !diags.HasErrors() {
			return e
		}
	}
	return &hclsyntax.LiteralValueExpr{Val: literal(a)}
}

// raw is the value of an attribute as it stands, templates as text.
func raw(a *hcl.Attribute) any { return plain(literal(a)) }

// filled evaluates the templates in the texts of a value.
func (s *scope) filled(v any) any {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "${") {
			return v
		}
		e, diags := hclsyntax.ParseTemplate([]byte(v), "", hcl.InitialPos)
		if diags.HasErrors() {
			return v
		}
		return s.value(e)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.filled(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = s.filled(e)
		}
		return out
	}
	return v
}
