package terraform

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// scope is what a file says of its own variables. Values are those of JSON; what
// is open is the text {}, and so is each open piece of a text. That is less than
// HCL's own evaluation, which makes of a template with one unknown piece an
// unknown text.
type scope struct {
	variables map[string]any // the defaults
	locals    map[string]hclsyntax.Expression
	each      map[string]any // key and value of for_each; nil outside
	depth     int
}

// deepest bounds how far locals may refer to each other.
const deepest = 32

func newScope(body *hclsyntax.Body) *scope {
	s := &scope{variables: map[string]any{}, locals: map[string]hclsyntax.Expression{}}
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
func (s *scope) instances(body *hclsyntax.Body, r resource) []resource {
	var all []resource
	if a := body.Attributes["for_each"]; a != nil {
		for key, value := range elements(s.value(a.Expr)) {
			if len(all) == mostInstances {
				break
			}
			one := r
			one.address += "[" + strconv.Quote(key) + "]"
			inner := *s
			inner.each = map[string]any{"key": key, "value": value}
			one.values = inner.values(body)
			all = append(all, one)
		}
	}
	if all == nil {
		r.values = s.values(body)
		all = []resource{r}
	}
	return all
}

// elements are the keys and values of a map, or of a set, in the order of the keys.
func elements(v any) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if !yield(key, v[key]) {
					return
				}
			}
		case []any:
			for _, e := range v {
				if key, ok := e.(string); ok && !yield(key, e) {
					return
				}
			}
		}
	}
}

// values are the attributes of a body; nested blocks are lists of objects, as in a
// state.
func (s *scope) values(body *hclsyntax.Body) map[string]any {
	into := map[string]any{}
	for name, a := range body.Attributes {
		into[name] = s.value(a.Expr)
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
func (s *scope) value(e hclsyntax.Expression) any {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return plain(e.Val)
	case *hclsyntax.TemplateExpr:
		var text strings.Builder
		for _, part := range e.Parts {
			text.WriteString(textOf(s.value(part)))
		}
		return text.String()
	case *hclsyntax.TemplateWrapExpr:
		return s.value(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return s.value(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		return s.lookup(e.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return step(s.value(e.Source), e.Traversal)
	case *hclsyntax.IndexExpr:
		return member(s.value(e.Collection), textOf(s.value(e.Key)))
	case *hclsyntax.ObjectConsExpr:
		return s.object(e)
	case *hclsyntax.TupleConsExpr:
		list := []any{}
		for _, x := range e.Exprs {
			list = append(list, s.value(x))
		}
		return list
	case *hclsyntax.ConditionalExpr:
		return orKnown(s.value(e.TrueResult), s.value(e.FalseResult))
	case *hclsyntax.FunctionCallExpr:
		return s.function(e)
	}
	return call.Open
}

// orKnown is the first of two values, unless that is open or null.
func orKnown(a, b any) any {
	if a == nil || a == call.Open {
		return b
	}
	return a
}

func (s *scope) object(e *hclsyntax.ObjectConsExpr) map[string]any {
	out := map[string]any{}
	for _, item := range e.Items {
		key := hcl.ExprAsKeyword(item.KeyExpr)
		if key == "" {
			key = textOf(s.value(item.KeyExpr))
			if k, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok {
				key = textOf(s.value(k.Wrapped))
			}
		}
		out[key] = s.value(item.ValueExpr)
	}
	return out
}

func (s *scope) lookup(t hcl.Traversal) any {
	name := ""
	if len(t) > 1 {
		if a, ok := t[1].(hcl.TraverseAttr); ok {
			name = a.Name
		}
	}
	switch t.RootName() {
	case "var":
		if v, ok := s.variables[name]; ok {
			return step(v, t[2:])
		}
	case "local":
		if e := s.locals[name]; e != nil && s.depth < deepest {
			inner := *s
			inner.depth++
			return step(inner.value(e), t[2:])
		}
	case "each":
		if v, ok := s.each[name]; ok {
			return step(v, t[2:])
		}
	}
	return call.Open
}

// step goes into a value.
func step(v any, t hcl.Traversal) any {
	for _, x := range t {
		switch x := x.(type) {
		case hcl.TraverseAttr:
			v = member(v, x.Name)
		case hcl.TraverseIndex:
			v = member(v, textOf(plain(x.Key)))
		default:
			return call.Open
		}
	}
	return v
}

func member(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v[name]; ok {
			return m
		}
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return call.Open
}

// function does what the functions do that addresses, bodies and for_each are
// made with.
func (s *scope) function(e *hclsyntax.FunctionCallExpr) any {
	var args []any
	for _, a := range e.Args {
		args = append(args, s.value(a))
	}
	if len(args) == 0 {
		return call.Open
	}
	switch e.Name {
	case "jsonencode":
		text, err := json.Marshal(args[0])
		if err != nil {
			return call.Open
		}
		return string(text)
	case "format":
		return formatted(textOf(args[0]), args[1:])
	case "join":
		return joined(textOf(args[0]), args[1:])
	case "merge":
		return merged(args)
	case "concat", "setunion":
		return flattened(args)
	case "toset", "tolist", "tomap", "tostring", "trimspace", "nonsensitive", "sensitive", "try", "coalesce", "one", "distinct", "sort", "lower", "urlencode", "chomp":
		return args[0]
	}
	return call.Open
}

func formatted(format string, args []any) string {
	for _, a := range args {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			break
		}
		format = format[:i] + textOf(a) + format[i+2:]
	}
	return format
}

func joined(separator string, lists []any) string {
	var texts []string
	for _, v := range flattened(lists) {
		texts = append(texts, textOf(v))
	}
	return strings.Join(texts, separator)
}

func merged(args []any) map[string]any {
	out := map[string]any{}
	for _, a := range args {
		if o, ok := a.(map[string]any); ok {
			maps.Copy(out, o)
		}
	}
	return out
}

func flattened(lists []any) []any {
	var out []any
	for _, l := range lists {
		if list, ok := l.([]any); ok {
			out = append(out, list...)
		} else {
			out = append(out, l)
		}
	}
	return out
}

// plain is a value of HCL as one of JSON; what is not known is open.
func plain(v cty.Value) any {
	v, _ = v.Unmark()
	switch t := v.Type(); {
	case !v.IsKnown():
		return call.Open
	case v.IsNull():
		return nil
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		return number(v.AsBigFloat())
	case t.IsObjectType() || t.IsMapType():
		out := map[string]any{}
		for key, value := range v.AsValueMap() {
			out[key] = plain(value)
		}
		return out
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		out := []any{}
		for _, value := range v.AsValueSlice() {
			out = append(out, plain(value))
		}
		return out
	}
	return call.Open
}

func number(f *big.Float) any { return json.Number(f.Text('g', 17)) }

// textOf is a value within a text.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return call.Open
}
