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

// declaredExpression reports what is wrong with the expression of a deployment. What the
// vendor's engine surely refuses is an error. The rest is a warning: the platform may have
// learned what this program does not know.
func (r *reader) declaredExpression(path string, f both) {
	r.expression(path, f, expression.For{Phase: string(edge.PhaseFirewallManaged)}, true)
}

// acceptedExpression reports what is wrong with the expression of an acceptance, which repeats
// that of a live rule in whatever phase: the platform takes it, so that nothing is an error.
func (r *reader) acceptedExpression(path string, f both) {
	r.expression(path, f, expression.For{}, false)
}

func (r *reader) expression(path string, f both, where expression.For, errors bool) {
	if !f.exists() {
		return
	}
	said := expressionSaid{f.origin(), f.text()}
	if r.expressions[said] {
		return
	}
	if r.expressions == nil {
		r.expressions = map[expressionSaid]bool{}
	}
	r.expressions[said] = true
	_, mistakes := expression.Examine(said.text, where)
	for _, m := range mistakes {
		origin, message := said.origin, m.Message
		if at, ok := inText(f, m.At); ok {
			origin = at
		} else {
			message = fmt.Sprintf("%s, at %s of the expression", message, m.Place(said.text))
		}
		if errors && m.Grade == expression.Certain {
			r.problem(origin, path, message, m.Hint)
		} else {
			r.warn(origin, path, message, m.Hint)
		}
	}
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
