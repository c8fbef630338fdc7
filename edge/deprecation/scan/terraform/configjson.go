package terraform

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// ConfigJSON reads a configuration in JSON (.tf.json), as [Config] does the other
// form.
func ConfigJSON(text []byte, out *call.Sink) error {
	if tooDeep(string(text)) {
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
	body, t := &hclsyntax.Body{}, &translation{}
	for _, b := range content.Blocks {
		attributes, diags := b.Body.JustAttributes()
		if diags.HasErrors() {
			return problem(diags)
		}
		body.Blocks = append(body.Blocks, t.block(b, attributes))
	}
	(&config{out: out, scope: newScope(body)}).blocks(body)
	return nil
}

// translation turns a configuration in JSON into what the parser of the other form makes.
// Texts have positions of their own there, one after the other, and the lines of their
// attributes.
type translation struct{ at int }

func (t *translation) place(line, length int) hcl.Pos {
	t.at += length
	return hcl.Pos{Line: line, Column: 1, Byte: t.at - length}
}

func (t *translation) block(b *hcl.Block, attributes hcl.Attributes) *hclsyntax.Block {
	inner := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	for name, a := range attributes {
		v, _ := a.Expr.Value(nil) // without a context templates stay as they are
		one := &hclsyntax.Attribute{Name: name, SrcRange: hcl.Range{Start: t.place(a.Range.Start.Line, 1)}}
		one.Expr = t.expression(v, a.Range.Start.Line)
		one.SrcRange.End = t.place(a.Range.Start.Line, 1)
		inner.Attributes[name] = one
	}
	return &hclsyntax.Block{Type: b.Type, Labels: b.Labels, Body: inner, TypeRange: b.TypeRange}
}

// expression is a value whose texts are templates.
func (t *translation) expression(v cty.Value, line int) hclsyntax.Expression {
	switch kind := v.Type(); {
	case v.IsNull() || !v.IsKnown():
	case kind == cty.String:
		e, diags := hclsyntax.ParseTemplate([]byte(v.AsString()), "", t.place(line, 1+len(v.AsString())))
		if !diags.HasErrors() {
			return e
		}
	case kind.IsObjectType():
		object := &hclsyntax.ObjectConsExpr{}
		for key, member := range v.AsValueMap() {
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{
				KeyExpr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(key)}, ValueExpr: t.expression(member, line),
			})
		}
		return object
	case kind.IsTupleType():
		list := &hclsyntax.TupleConsExpr{}
		for _, e := range v.AsValueSlice() {
			list.Exprs = append(list.Exprs, t.expression(e, line))
		}
		return list
	}
	return &hclsyntax.LiteralValueExpr{Val: v}
}
