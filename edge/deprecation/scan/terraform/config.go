package terraform

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/document"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
)

// Config reads a configuration in Terraform's own language (.tf, .tofu):
//
//   - resources and data sources of the vendor's provider that stand for calls
//     become these calls, as in a state: what is known of a configuration is that
//     each run reads it;
//   - blocks with an address and, mostly, a method (data "http", restapi_object)
//     become a call;
//   - commands that provisioners run are read as scripts;
//   - other strings that can be addresses are handed on without a method.
//
// Variables have their default, locals their value; what else is not in the file
// is open.
func Config(text []byte, out *call.Sink) error {
	if tooDeep(string(text)) {
		return errDeep
	}
	file, diags := hclsyntax.ParseConfig(text, "", hcl.InitialPos)
	if diags.HasErrors() {
		return problem(diags)
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return errors.New("no configuration")
	}
	c := &config{text: text, out: out, scope: newScope(body)}
	c.blocks(body)
	return nil
}

var errDeep = errors.New("it is nested too deep")

// mostChoices bounds the question marks of a text. Few of them are choices within others.
const mostChoices = 20 * call.Nesting

func tooDeep(text string) bool {
	return strings.Count(text, "?") > mostChoices || call.TooDeep(text, "([{", ")]}", "-!")
}

// problem is the first mistake of a file, with its place. What HCL says of it does
// not quote the file.
func problem(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			return fmt.Errorf("line %d: %s", d.Subject.Start.Line, strings.ToLower(d.Summary))
		}
	}
	return errors.New("it cannot be parsed")
}

// config is a file as it is being read.
type config struct {
	text  []byte // nil where positions are none of it
	out   *call.Sink
	scope *scope
	seen  []hcl.Range // what was read as something
}

func (c *config) blocks(body *hclsyntax.Body) {
	for _, b := range body.Blocks {
		c.block(b)
	}
	c.strings(body)
}

// block reads one block of the outermost level.
func (c *config) block(b *hclsyntax.Block) {
	data := b.Type == "data"
	if b.Type != "resource" && !data || len(b.Labels) != 2 {
		return
	}
	r := resource{
		address: b.Labels[0] + "." + b.Labels[1], kind: b.Labels[0], data: data,
		line: b.DefRange().Start.Line, span: call.Span{From: b.DefRange().Start.Byte, To: b.Body.SrcRange.End.Byte},
	}
	if data {
		r.address = "data." + r.address
	}
	for _, one := range c.scope.instances(b.Body, r) {
		for _, found := range one.calls() {
			c.out.Offer(found)
		}
	}
	c.request(b, r)
	c.commands(b)
}

// requestParts are the attributes that a request is made of.
var requestParts = []string{"url", "uri", "path", "request_body", "body", "data", "payload"}

// request reads a block that describes a request itself.
func (c *config) request(b *hclsyntax.Block, r resource) {
	values := c.scope.values(b.Body)
	if r.kind == "http" && values["method"] == nil {
		values["method"] = http.MethodGet
	}
	found, ok := document.Request(values)
	if !ok {
		return
	}
	for _, name := range requestParts {
		if a := b.Body.Attributes[name]; a != nil {
			c.seen = append(c.seen, a.SrcRange)
		}
	}
	found.Line, found.Span, found.Address = r.line, r.span, r.address
	c.out.Offer(found)
}

// commands reads what provisioners and external programs are given to run.
func (c *config) commands(b *hclsyntax.Block) {
	for _, inner := range b.Body.Blocks {
		c.commands(inner)
	}
	a := b.Body.Attributes["command"]
	if a == nil {
		return
	}
	text := textOf(c.scope.value(a.Expr))
	if !shell.HasCalls(text) {
		return
	}
	c.seen = append(c.seen, a.SrcRange)
	line := a.Expr.Range().Start.Line
	if c.text != nil && bytes.HasPrefix(c.text[a.Expr.Range().Start.Byte:], []byte("<<")) {
		line++
	}
	shell.Text(shell.Script{Text: text, Line: line}, c.out)
}

// strings hands on the strings that can be addresses and were not read as
// something else.
func (c *config) strings(body *hclsyntax.Body) {
	var templates []*hclsyntax.TemplateExpr
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		if t, ok := n.(*hclsyntax.TemplateExpr); ok {
			templates = append(templates, t)
		}
		return nil
	})
	// Attributes are visited in any order.
	slices.SortFunc(templates, func(a, b *hclsyntax.TemplateExpr) int {
		return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte)
	})
	until := 0 // the end of what was read last
	for _, t := range templates {
		r := t.SrcRange
		if r.Start.Byte < until || slices.ContainsFunc(c.seen, func(s hcl.Range) bool { return s.Start.Byte <= r.Start.Byte && r.Start.Byte < s.End.Byte }) {
			continue
		}
		until = r.End.Byte
		var span call.Span
		if c.text != nil {
			span = call.Span{From: r.Start.Byte, To: r.End.Byte}
		}
		for address := range call.Addresses(textOf(c.scope.value(t))) {
			c.out.Literal(call.Call{URL: address, Line: r.Start.Line, Span: span})
		}
	}
}
