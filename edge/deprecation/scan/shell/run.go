package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// Bounds that keep a script from growing without end: A=$A$A doubles, and loops
// in loops multiply.
const (
	longestVar  = 1 << 10
	longestBody = 1 << 18 // of a variable that holds a body
	mostVars    = 1 << 12
	mostGrowth  = 1 << 20
	mostCalls   = 1 << 14
	mostItems   = 64  // of a loop
	mostFields  = 256 // of a word: {1..1000000}
	perField    = 64  // what each of them counts for, beside its length
	mostSteps   = 1 << 17
	deepest     = 16 // scripts in scripts, functions in functions
)

// position is where a text stands in the input.
type position struct {
	line  int  // of its first line
	exact bool // byte by byte, from the beginning
}

// run goes through a script once, as far as it takes to find its calls.
type run struct {
	env
	findings
	funcs  map[string]*function
	order  []*function
	at     position
	depth  int
	steps  int
	parsed int // bytes that may still be parsed again
	open   func(name string) ([]byte, error)
}

// env is what a script has set.
type env struct {
	vars  map[string]variable
	used  map[string]bool // variables that something is made of
	args  []string        // of the function we are in; nil outside
	grown int             // by what variables have added
}

// findings are the calls of a script, and what could not be read of it.
type findings struct {
	found   []found
	skipped []call.Skip
	quiet   bool // what cannot be read is no news
	inside  bool // a function that is invoked with arguments
}

// variable is what a script sets: one value, or those of an array.
type variable struct {
	values []string
	list   bool
}

// function is one that the script declares.
type function struct {
	body   *syntax.Stmt
	at     position
	called bool
}

func newRun(s Script, o call.Options) *run {
	r := &run{env: env{vars: map[string]variable{}, used: map[string]bool{}}, funcs: map[string]*function{}, open: o.Open, parsed: 8*len(s.Text) + 1<<16}
	for name, value := range s.Vars {
		r.set(name, value)
	}
	return r
}

func (r *findings) skip(line int, reason string) {
	if !r.quiet {
		r.skipped = append(r.skipped, call.Skip{Line: line, Reason: reason})
	}
}

// uncalled reads the functions that the script itself never calls, with open
// arguments: another script may.
func (r *run) uncalled() {
	for i := 0; i < len(r.order); i++ {
		f := r.order[i]
		if !f.called {
			r.invoke(f, nil)
		}
	}
}

// invoke reads a function's body with its arguments; nil leaves them open.
func (r *run) invoke(f *function, args []string) {
	if r.depth >= deepest {
		return
	}
	f.called = true
	before, at, inside := r.args, r.at, r.inside
	r.args, r.at, r.inside = args, f.at, args != nil
	r.depth++
	r.stmt(f.body)
	r.depth--
	r.args, r.at, r.inside = before, at, inside
}

// stmts reads statements in their order.
func (r *run) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

// stmt reads one statement.
func (r *run) stmt(s *syntax.Stmt) {
	if s == nil || s.Cmd == nil || r.steps > mostSteps || len(r.found) > mostCalls {
		return
	}
	r.steps++
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.simple(cmd, s, r.input(s))
	case *syntax.DeclClause:
		r.assign(cmd.Args)
	case *syntax.BinaryCmd:
		r.binary(cmd)
	case *syntax.FuncDecl:
		r.declare(cmd)
	case *syntax.ForClause:
		r.loop(cmd)
	default:
		r.compound(s.Cmd)
	}
}

// compound reads the statements that a command holds, those of its words too.
func (r *run) compound(cmd syntax.Command) {
	before := r.vars
	if _, ok := cmd.(*syntax.Subshell); ok {
		r.vars = maps.Clone(before)
	}
	syntax.Walk(cmd, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		r.stmt(s)
		return !ok
	})
	if _, ok := cmd.(*syntax.Subshell); ok {
		r.vars = before
	}
}

func (r *run) declare(f *syntax.FuncDecl) {
	if f.Name == nil || len(r.order) > mostVars {
		return
	}
	made := &function{body: f.Body, at: r.at}
	if r.funcs[f.Name.Value] == nil {
		r.funcs[f.Name.Value] = made
	}
	r.order = append(r.order, made)
}

// loop reads the body once for each item that is known.
func (r *run) loop(f *syntax.ForClause) {
	each, ok := f.Loop.(*syntax.WordIter)
	if !ok || each.Name == nil {
		r.stmts(f.Do)
		return
	}
	var items []string
	for _, w := range each.Items {
		items = append(items, r.fields(w)...)
	}
	if len(items) == 0 || len(items) > mostItems {
		items = []string{call.Open}
	}
	for _, item := range items {
		r.set(each.Name.Value, item)
		r.stmts(f.Do)
	}
}

// binary reads both sides; of a pipe, the right one is fed what the left writes.
func (r *run) binary(b *syntax.BinaryCmd) {
	right, simple := b.Y.Cmd.(*syntax.CallExpr)
	if b.Op != syntax.Pipe || !simple {
		r.stmt(b.X)
		r.stmt(b.Y)
		return
	}
	in := r.input(b.Y)
	if text, known := r.output(b.X); known && in == nil {
		in = &input{text: text, line: r.line(b.X.Pos())}
	}
	r.simple(right, b.Y, in)
}

// assign remembers what a command sets: NAME=value, NAME=(…), NAME+=value.
func (r *run) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		var v variable
		switch {
		case a.Array != nil:
			v.list = true
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					v.values = append(v.values, r.fields(e.Value)...)
				}
			}
		case a.Value != nil:
			text := r.text(a.Value)
			v.values = []string{text}
			r.literal(r.line(a.Pos()), a.Name.Value, text)
		default:
			v.values = []string{""}
		}
		if a.Append {
			v = r.vars[a.Name.Value].with(v)
		}
		r.store(a.Name.Value, v)
	}
}

// with is the variable with another appended.
func (v variable) with(more variable) variable {
	if v.list || more.list || len(v.values) == 0 {
		return variable{append(v.values[:len(v.values):len(v.values)], more.values...), v.list || more.list}
	}
	return variable{values: []string{v.values[0] + strings.Join(more.values, " ")}}
}

func (r *env) set(name, value string) { r.store(name, variable{values: []string{value}}) }

func (r *env) store(name string, v variable) {
	long := 0
	for _, value := range v.values {
		long += len(value)
	}
	body := len(v.values) == 1 && strings.IndexAny(strings.TrimSpace(v.values[0]), "{[") == 0
	if long > longestVar && !(body && long <= longestBody) || len(r.vars) >= mostVars {
		v = variable{values: []string{call.Open}}
	}
	r.vars[strings.Clone(name)] = v
}

func (r *run) line(p syntax.Pos) int { return r.at.line + int(p.Line()) - 1 }
