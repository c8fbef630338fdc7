package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// word is the text of a word as it is being made.
type word struct {
	strings.Builder
	quoted bool // in part at least
	split  bool // an unquoted variable brought spaces in
}

// fields is the word, or the words that a variable makes of it: CURL="curl -s";
// $CURL https://…, or "${args[@]}".
func (r *run) fields(w *syntax.Word) []string {
	if list, ok := r.list(w); ok {
		return list
	}
	made := r.word(w)
	if made.split && !made.quoted {
		return strings.Fields(made.String())
	}
	return []string{made.String()}
}

// text is the word as one, whatever spaces it holds.
func (r *run) text(w *syntax.Word) string { return r.word(w).String() }

func (r *run) word(w *syntax.Word) *word {
	made := &word{}
	for _, part := range w.Parts {
		r.part(made, part, false)
	}
	return made
}

// list is what "${name[@]}" or "$@" stands for, where that is known.
func (r *env) list(w *syntax.Word) ([]string, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return nil, false
	}
	if p.Param.Value == "@" || p.Param.Value == "*" {
		return r.args, r.args != nil
	}
	v, known := r.vars[p.Param.Value]
	if index, ok := p.Index.(*syntax.Word); ok && known && v.list && (index.Lit() == "@" || index.Lit() == "*") {
		return v.values, true
	}
	return nil, false
}

// part adds a piece of a word.
func (r *run) part(w *word, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		w.WriteString(unescaped(p.Value, quoted))
	case *syntax.SglQuoted:
		w.quoted = true
		if p.Dollar {
			w.WriteString(ansi(p.Value))
		} else {
			w.WriteString(p.Value)
		}
	case *syntax.DblQuoted:
		w.quoted = true
		for _, inner := range p.Parts {
			r.part(w, inner, true)
		}
	case *syntax.ParamExp:
		r.fill(w, r.parameter(p), quoted)
	case *syntax.CmdSubst:
		r.substitute(w, p, quoted)
	default:
		w.WriteString(call.Open)
	}
}

// substitute puts in what a command writes, where that is known; its calls count
// in any case.
func (r *run) substitute(w *word, c *syntax.CmdSubst, quoted bool) {
	if len(c.Stmts) == 1 {
		if text, known := r.output(c.Stmts[0]); known {
			r.fill(w, strings.TrimRight(text, "\n"), quoted)
			return
		}
	} else {
		r.stmts(c.Stmts)
	}
	w.WriteString(call.Open)
}

func (r *env) fill(w *word, value string, quoted bool) {
	if r.grown += len(value); r.grown > mostGrowth {
		value = call.Open
	}
	w.split = w.split || !quoted && strings.ContainsAny(value, " \n\t")
	w.WriteString(value)
}

// parameter is the value of $name, ${name}, ${name:-default} and their like.
func (r *run) parameter(p *syntax.ParamExp) string {
	if !isValue(p) {
		return call.Open
	}
	value, known := r.lookup(p)
	if p.Exp == nil {
		return value
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known || p.Exp.Word == nil {
			return value
		}
		return orOpen(r.text(p.Exp.Word))
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if known && p.Exp.Word != nil && p.Exp.Word.Lit() == "/" {
			return strings.TrimSuffix(value, "/") // ${BASE%/}
		}
	}
	return call.Open
}

// isValue reports whether an expansion is the value of a variable, or what an
// operator makes of it: no length, slice or replacement.
func isValue(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Length && !p.Excl && p.Slice == nil && p.Repl == nil && p.Names == 0
}

func orOpen(text string) string {
	if text == "" {
		return call.Open
	}
	return text
}

// lookup is the value of a variable or of an argument; open where it is not known.
func (r *env) lookup(p *syntax.ParamExp) (string, bool) {
	name := p.Param.Value
	if n, err := strconv.Atoi(name); err == nil {
		if n > 0 && n <= len(r.args) {
			return r.args[n-1], true
		}
		return call.Open, false
	}
	v, known := r.vars[name]
	r.used[name] = true
	switch {
	case !known || len(v.values) == 0:
		return call.Open, false
	case v.list && p.Index != nil:
		return r.element(v, p.Index)
	}
	return v.values[0], true
}

func (r *env) element(v variable, index syntax.ArithmExpr) (string, bool) {
	w, ok := index.(*syntax.Word)
	if !ok {
		return call.Open, false
	}
	n, err := strconv.Atoi(w.Lit())
	if w.Lit() == "@" || w.Lit() == "*" {
		return strings.Join(v.values, " "), true
	}
	if err != nil || n < 0 || n >= len(v.values) {
		return call.Open, false
	}
	return v.values[n], true
}

// unescaped undoes the backslashes of a literal; within double quotes they escape
// few characters.
func unescaped(text string, quoted bool) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) || quoted && strings.IndexByte("\"\\$`\n", text[i+1]) < 0 {
			b.WriteByte(text[i])
			continue
		}
		if i++; text[i] != '\n' {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// ansi undoes the escapes of $'…'.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if at := strings.IndexByte("nrtabfve", text[i]); at >= 0 {
			b.WriteByte("\n\r\t\a\b\f\v\x1b"[at])
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
