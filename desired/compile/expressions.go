package compile

import (
	"fmt"

	"cuelang.org/go/cue/ast"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// expressionSaid is what has been said of an expression: one that many zones share is declared at
// one place.
type expressionSaid struct {
	origin desired.Origin
	text   string
}

// declaredExpression reports what is wrong with the expression of a deployment.
func (r *reader) declaredExpression(path string, m member, d desired.Deployment) {
	if d.Expression != nil {
		r.expression(at(path, "expression"), m.field("expression"), d.Expression.Value, expression.For{Phase: string(edge.PhaseFirewallManaged)})
	}
}

// expression reports what is wrong with one that is declared. What the vendor's engine surely
// refuses is an error. The rest is a warning: the platform may have learned what this program
// does not know.
func (r *reader) expression(path string, f both, text string, use expression.For) {
	if !r.once(expressionSaid{f.origin(), text}) {
		return
	}
	_, mistakes := expression.Examine(text, use)
	for _, mistake := range mistakes {
		origin, message := mistaken(f, mistake)
		if mistake.Grade == expression.Certain {
			r.problem(origin, path, message, mistake.Hint)
		} else {
			r.warn(origin, path, message, mistake.Hint)
		}
	}
}

// ruleExpression reports what is wrong with the expression of a rule, and what it says that may not
// be meant.
func (r *reader) ruleExpression(path string, f both, text string, use expression.For) {
	if r.expressions[expressionSaid{f.origin(), text}] {
		return
	}
	r.expression(path, f, text, use)
	if e, err := expression.Parse(text); err == nil {
		for _, note := range expression.Findings(e) {
			origin, message := mistaken(f, note)
			r.warn(origin, path, message, note.Hint)
		}
	}
}

// acceptedExpression reports what is wrong with the expression of an acceptance, which repeats
// that of a live rule in whatever phase: the platform takes it, so that nothing is an error.
func (r *reader) acceptedExpression(path string, f both, text string) {
	if !r.once(expressionSaid{f.origin(), text}) {
		return
	}
	_, mistakes := expression.Examine(text, expression.For{})
	for _, mistake := range mistakes {
		origin, message := mistaken(f, mistake)
		r.warn(origin, at(path, "expression"), message, mistake.Hint)
	}
}

// once reports whether an expression has not been checked yet.
func (r *reader) once(said expressionSaid) bool {
	if r.expressions == nil {
		r.expressions = map[expressionSaid]bool{}
	}
	known := r.expressions[said]
	r.expressions[said] = true
	return !known
}

// mistaken is where a mistake is in the file, and what is said of it there.
func mistaken(f both, m expression.Mistake) (desired.Origin, string) {
	if origin, ok := inText(f, m.At); ok {
		return origin, m.Message
	}
	return f.origin(), fmt.Sprintf("%s, at %s of the expression", m.Message, m.Place(f.text()))
}

// inText is where a byte of a string is in the file. It is false where the string is not written
// as one there, but computed.
func inText(f both, offset int) (desired.Origin, bool) {
	literal, ok := f.plain.Source().(*ast.BasicLit)
	if !ok {
		return desired.Origin{}, false
	}
	if value, err := f.value.String(); err != nil || !writes(literal.Value, value) {
		return desired.Origin{}, false
	}
	at := literal.Pos()
	line, column := advance(literal.Value, offset)
	if line == 0 {
		column += at.Column() - 1
	}
	return desired.Origin{File: f.origin().File, Line: at.Line() + line, Column: column}, true
}
