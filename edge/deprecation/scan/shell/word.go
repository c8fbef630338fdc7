package shell

import (
	"io"
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// config is how words are expanded: as bash does, with what the script itself sets, and
// without a look at any file.
func (r *run) config() *expand.Config { return &expand.Config{Env: r, CmdSubst: r.substitute} }

// fields is the word, or the words that a variable makes of it: CURL="curl -s";
// $CURL https://…, or "${args[@]}".
func (r *run) fields(w *syntax.Word) (fields []string) {
	for field, err := range expand.FieldsSeq(r.config(), r.opened(w)) {
		if len(fields) > 0 {
			r.grown += perField + len(field)
		}
		if err != nil || len(fields) == mostFields || r.grown > mostGrowth && len(fields) > 0 {
			return append(fields, call.Open)
		}
		fields = append(fields, field)
	}
	return fields
}

// text is the word as one, whatever spaces it holds.
func (r *run) text(w *syntax.Word) string {
	text, err := expand.Literal(r.config(), r.opened(w))
	if err != nil {
		return call.Open
	}
	return text
}

// opened is a word in which what is not known is written open: bash would make nothing
// of it.
func (r *run) opened(w *syntax.Word) *syntax.Word {
	return &syntax.Word{Parts: r.openedParts(w.Parts)}
}

func (r *run) openedParts(parts []syntax.WordPart) (out []syntax.WordPart) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.CmdSubst:
			out = append(out, part)
		case *syntax.DblQuoted:
			out = append(out, &syntax.DblQuoted{Parts: r.openedParts(p.Parts)})
		case *syntax.ParamExp:
			out = append(out, r.parameter(p)...)
		default:
			out = append(out, open)
		}
	}
	return out
}

var open = &syntax.Lit{Value: call.Open}

// parameter is what stands for $name, ${name}, ${name:-default} and their like.
func (r *run) parameter(p *syntax.ParamExp) []syntax.WordPart {
	if p.Param == nil || p.Length || p.Excl || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return []syntax.WordPart{open} // no value of a variable
	}
	r.used[p.Param.Value] = true
	if _, known := r.lookup(p.Param.Value); known && isPlain(p.Index) {
		return []syntax.WordPart{p}
	}
	if p.Exp != nil && p.Exp.Word != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return r.openedParts(p.Exp.Word.Parts)
		}
	}
	return []syntax.WordPart{open}
}

// isPlain reports whether an index is none, a number, or all.
func isPlain(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	if !ok {
		return index == nil
	}
	_, err := strconv.Atoi(w.Lit())
	return err == nil || w.Lit() == "@" || w.Lit() == "*"
}

// lookup is the value of a variable or of an argument; false where it is not known.
func (r *env) lookup(name string) (variable, bool) {
	if name == "@" || name == "*" {
		return variable{values: r.args, list: true}, r.args != nil
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n > 0 && n <= len(r.args) {
			return variable{values: r.args[n-1 : n]}, true
		}
		return variable{}, false
	}
	v := r.vars[name]
	return v, len(v.values) > 0
}

// Get implements [expand.Environ]. What is not known is open, so that no name is looked up
// elsewhere.
func (r *env) Get(name string) expand.Variable {
	v, known := r.lookup(name)
	for _, value := range v.values {
		r.grown += len(value)
	}
	switch {
	case name == "IFS":
		return expand.Variable{}
	case !known || r.grown > mostGrowth:
		return expand.Variable{Set: true, Kind: expand.String, Str: call.Open}
	case v.list:
		return expand.Variable{Set: true, Kind: expand.Indexed, List: v.values}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: v.values[0]}
}

// Each implements [expand.Environ].
func (r *env) Each(func(string, expand.Variable) bool) {}

// substitute writes what a command writes, where that is known; its calls count in any
// case.
func (r *run) substitute(w io.Writer, c *syntax.CmdSubst) error {
	text := call.Open
	if len(c.Stmts) != 1 {
		r.stmts(c.Stmts)
	} else if written, known := r.output(c.Stmts[0]); known {
		text = written
	}
	_, err := io.WriteString(w, text)
	return err
}
