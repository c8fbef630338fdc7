package terraform

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// scope is what a file says of its own variables. What is open is the text {}, and so is
// each open piece of a text. HCL's own evaluation would make of a template with one
// unknown piece an unknown text, so that is left to do what has no pieces.
type scope struct {
	variables map[string]cty.Value // the defaults
	locals    map[string]hclsyntax.Expression
	each      map[string]cty.Value // key and value of for_each; nil outside
	depth     int
}

// deepest bounds how far locals may refer to each other.
const deepest = 32

var open = cty.StringVal(call.Open)

func newScope(body *hclsyntax.Body) *scope {
	s := &scope{variables: map[string]cty.Value{}, locals: map[string]hclsyntax.Expression{}}
	for _, b := range body.Blocks {
		switch {
		case b.Type == "variable" && len(b.Labels) == 1 && b.Body.Attributes["default"] != nil:
			s.variables[b.Labels[0]] = s.value(b.Body.Attributes["default"].Expr)
		case b.Type == "locals":
			for name, a := range b.Body.Attributes {
				s.locals[name] = a.Expr
			}
		}
	}
	return s
}

// mostInstances bounds what for_each makes of one block.
const mostInstances = 1000

// instances are the resources that a block stands for: one, or one for each
// element of for_each that the file shows.
func (s *scope) instances(body *hclsyntax.Body, r resource) (all []resource) {
	of := cty.EmptyObjectVal
	if a := body.Attributes["for_each"]; a != nil {
		of = s.value(a.Expr)
	}
	if !of.CanIterateElements() || of.LengthInt() == 0 {
		r.values = s.values(body)
		return []resource{r}
	}
	for it := of.ElementIterator(); it.Next() && len(all) < mostInstances; {
		key, value := it.Element()
		if !of.Type().IsObjectType() && !of.Type().IsMapType() {
			key = value // of a set
		}
		one, inner := r, *s
		one.address += "[" + strconv.Quote(textOf(key)) + "]"
		inner.each = map[string]cty.Value{"key": key, "value": value}
		one.values = inner.values(body)
		all = append(all, one)
	}
	return all
}

// values are the attributes of a body; nested blocks are lists of objects, as in a
// state.
func (s *scope) values(body *hclsyntax.Body) map[string]any {
	into := map[string]any{}
	for name, a := range body.Attributes {
		into[name] = plain(s.value(a.Expr))
	}
	for _, b := range body.Blocks {
		name, inner := b.Type, b.Body
		if b.Type == "dynamic" && len(b.Labels) == 1 {
			name = b.Labels[0]
			for _, content := range b.Body.Blocks {
				if content.Type == "content" {
					inner = content.Body
				}
			}
		}
		list, _ := into[name].([]any)
		into[name] = append(list, s.values(inner))
	}
	return into
}

// value is what an expression is, as far as the file shows it.
func (s *scope) value(e hclsyntax.Expression) cty.Value {
	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		var text strings.Builder
		for _, part := range e.Parts {
			text.WriteString(textOf(s.value(part)))
		}
		return cty.StringVal(text.String())
	case *hclsyntax.TemplateWrapExpr:
		return s.value(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return s.value(e.Expression)
	case *hclsyntax.ObjectConsExpr:
		members := map[string]cty.Value{}
		for _, item := range e.Items {
			key := hcl.ExprAsKeyword(item.KeyExpr)
			if key == "" {
				key = textOf(s.value(item.KeyExpr))
			}
			members[key] = s.value(item.ValueExpr)
		}
		return cty.ObjectVal(members)
	case *hclsyntax.ObjectConsKeyExpr:
		return s.value(e.Wrapped)
	case *hclsyntax.TupleConsExpr:
		return cty.TupleVal(s.all(e.Exprs))
	case *hclsyntax.ConditionalExpr:
		if yes := s.value(e.TrueResult); !yes.IsNull() && textOf(yes) != call.Open {
			return yes
		}
		return s.value(e.FalseResult)
	case *hclsyntax.FunctionCallExpr:
		return called(e.Name, s.all(e.Args))
	}
	return s.evaluated(e)
}

func (s *scope) all(list []hclsyntax.Expression) (values []cty.Value) {
	for _, e := range list {
		values = append(values, s.value(e))
	}
	return values
}

// evaluated leaves an expression to HCL; it is open where it needs what the file does not
// show.
func (s *scope) evaluated(e hclsyntax.Expression) cty.Value {
	known := map[string]map[string]cty.Value{}
	for _, t := range e.Variables() {
		root, name := t.RootName(), ""
		if len(t) > 1 {
			if a, ok := t[1].(hcl.TraverseAttr); ok {
				name = a.Name
			}
		}
		v, ok := s.lookup(root, name)
		if !ok {
			return open
		}
		if known[root] == nil {
			known[root] = map[string]cty.Value{}
		}
		known[root][name] = v
	}
	context := &hcl.EvalContext{Variables: map[string]cty.Value{}}
	for root, members := range known {
		context.Variables[root] = cty.ObjectVal(members)
	}
	v, diags := e.Value(context)
	if v, _ = v.UnmarkDeep(); diags.HasErrors() || !v.IsWhollyKnown() {
		return open
	}
	return v
}

// lookup is a variable of the file; false where it is none.
func (s *scope) lookup(root, name string) (cty.Value, bool) {
	switch e := s.locals[name]; {
	case root == "var":
		v, ok := s.variables[name]
		return v, ok
	case root == "each":
		v, ok := s.each[name]
		return v, ok
	case root == "local" && e != nil && s.depth < deepest:
		inner := *s
		inner.depth++
		return inner.value(e), true
	}
	return open, false
}

// functions are those that addresses, bodies and for_each are made with. Of those that
// hand on their argument, changed a little or not at all, it counts as it is.
var (
	functions = map[string]function.Function{
		"jsonencode": stdlib.JSONEncodeFunc, "format": stdlib.FormatFunc, "join": stdlib.JoinFunc,
		"merge": stdlib.MergeFunc, "concat": stdlib.ConcatFunc, "setunion": stdlib.ConcatFunc,
	}
	handingOn = call.Words("toset tolist tomap tostring trimspace nonsensitive sensitive try coalesce one distinct sort lower urlencode chomp")
)

// called is what a function returns; open where that cannot be said.
func called(name string, args []cty.Value) cty.Value {
	f, known := functions[name]
	switch {
	case handingOn[name] && len(args) > 0:
		return args[0]
	case !known:
		return open
	}
	parameters := f.Params()
	for i := range args {
		if rest := f.VarParam(); i >= len(parameters) && rest != nil {
			parameters = append(parameters, *rest)
		}
		if i < len(parameters) {
			if v, err := convert.Convert(args[i], parameters[i].Type); err == nil {
				args[i] = v
			}
		}
	}
	v, err := f.Call(args)
	if err != nil || !v.IsWhollyKnown() {
		return open
	}
	return v
}

// plain is a value of HCL as one of JSON.
func plain(v cty.Value) (out any) {
	text, err := ctyjson.SimpleJSONValue{Value: v}.MarshalJSON()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err != nil || d.Decode(&out) != nil {
		return call.Open
	}
	return out
}

// textOf is a value within a text.
func textOf(v cty.Value) string {
	if text, err := convert.Convert(v, cty.String); err == nil && text.IsKnown() && !text.IsNull() {
		return text.AsString()
	}
	return call.Open
}
