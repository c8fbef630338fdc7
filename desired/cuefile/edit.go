package cuefile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/desired"
)

// Change is one member of what a zone runs that is to be declared otherwise.
type Change struct {
	Path          string // below waf: core.threshold.score; of another kind below the zone
	before, after *field // nil where it is not declared
}

// Changes are the members in which two declarations of one zone differ. Lists whose order
// means nothing keep that of before.
func Changes(before, after desired.Zone, describe func(ruleset string, ref desired.RuleRef) string) []Change {
	return append(changesOf(fieldsOf(before, describe), fieldsOf(after, describe)), changesOf(othersOf(before), othersOf(after))...)
}

func changesOf(old, now []field) (changes []Change) {
	theirs := byPath(old)
	ours := byPath(now)
	for _, f := range now {
		was, both := theirs[f.path]
		switch {
		case f.value == "{}":
		case !both:
			changes = append(changes, Change{Path: f.path, after: &f})
		case f.isList():
			if next := f.orderedLike(was); next.text() != was.text() {
				changes = append(changes, Change{f.path, &was, &next})
			}
		case f.value != was.value:
			changes = append(changes, Change{f.path, &was, &f})
		}
	}
	for _, f := range old {
		if _, both := ours[f.path]; !both && f.value != "{}" {
			changes = append(changes, Change{Path: f.path, before: &f})
		}
	}
	return changes
}

// orderedLike has the items that another list has, too, in its order, before the rest;
// but tags, whose order counts.
func (f field) orderedLike(other field) field {
	if strings.HasSuffix(f.path, ".tags") && !strings.HasSuffix(f.path, "disable.tags") {
		return f
	}
	place := func(item string) int {
		if i := slices.Index(other.items, item); i >= 0 {
			return i
		}
		return len(other.items)
	}
	order := make([]int, len(f.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(f.items[a]) - place(f.items[b]) })
	next := f
	next.items, next.notes = nil, nil
	for _, i := range order {
		next.items = append(next.items, f.items[i])
		if i < len(f.notes) {
			next.notes = append(next.notes, f.notes[i])
		}
	}
	return next
}

// ErrInherited is a member that a file does not declare for the zone, and that no
// declaration of the zone can take away.
var ErrInherited = errors.New("the value comes from elsewhere, and a zone cannot take it away")

// ErrNoZone is a file that does not declare the zone.
var ErrNoZone = errors.New("the file does not declare the zone")

// Declares reports whether a file has the member of a change in the zone itself, and not
// in something that the zone refers to.
func Declares(text []byte, account, zone string, c Change) bool {
	file, err := parser.ParseFile("", text, parser.ParseComments)
	if err != nil {
		return false
	}
	return len(find(file, c.fullPath(account, zone)).hits) > 0
}

// Apply edits the text of a file so that a zone declares what a change says: the value in
// its place, or a new member in the zone. Comments, and the format of everything else,
// stay. A file that was formatted as cue fmt does is so again.
func Apply(text []byte, account, zone string, c Change) ([]byte, error) {
	file, err := parser.ParseFile("", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	formatted, _ := format.Source(text)
	found := find(file, c.fullPath(account, zone))
	var edited []byte
	switch {
	case !found.zone:
		return nil, ErrNoZone
	case len(found.hits) > 0 && c.after == nil:
		edited = remove(text, found.hits)
	case len(found.hits) > 0:
		edited = replace(text, found.hits, c)
	case c.after != nil:
		edited = insert(text, found, c.fullPath(account, zone), *c.after)
	case c.before.isList():
		edited = insert(text, found, c.fullPath(account, zone), field{path: c.Path})
	default:
		return nil, ErrInherited
	}
	if bytes.Equal(formatted, text) {
		return format.Source(edited)
	}
	_, err = parser.ParseFile("", edited)
	return edited, err
}

// Other reports whether it is about another kind than deployments.
func (c Change) Other() bool {
	return c.before != nil && c.before.other || c.after != nil && c.after.other
}

func (c Change) fullPath(account, zone string) []string {
	labels := []string{"account", account, "zone", zone}
	if !c.Other() {
		labels = append(labels, "waf")
	}
	for _, label := range splitPath(c.Path) {
		labels = append(labels, unquoted(label))
	}
	return labels
}

func unquoted(label string) string {
	name, _, err := ast.LabelName(&ast.BasicLit{Kind: token.STRING, Value: label})
	if err != nil || !strings.HasPrefix(label, `"`) {
		return label
	}
	return name
}

// zoneDepth is how many labels lead to a zone: account, its key, zone, its key.
const zoneDepth = 4

// finding is where a path stands in a file, and where it could.
type finding struct {
	zone bool
	hits []hit
	in   *ast.StructLit // the innermost struct with braces of the zone that the path goes through
	rest []string       // the path below it
	// chain is the zone's value where it is a chain of labels without braces, such as
	// "shop.example": waf: _tier; nil for none.
	chain *ast.StructLit
}

// hit is a field at the path. Top is the outermost field of the chain it is in, such as
// waf in waf: core: paranoia: 2, below braces.
type hit struct {
	field, top *ast.Field
	in         *ast.StructLit // nil for the file itself
}

func find(file *ast.File, path []string) *finding {
	f := &finding{}
	f.visit(file.Decls, path, 0, hit{})
	return f
}

func (f *finding) visit(decls []ast.Decl, path []string, depth int, at hit) {
	for _, decl := range decls {
		field, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil || name != path[0] {
			continue
		}
		f.zone = f.zone || depth+1 == zoneDepth
		here := hit{field: field, top: at.top, in: at.in}
		if here.top == nil {
			here.top = field
		}
		if len(path) == 1 {
			f.hits = append(f.hits, here)
			continue
		}
		for _, s := range structsOf(field.Value) {
			f.visit(s.Elts, path[1:], depth+1, f.enter(s, path[1:], depth+1, here))
		}
	}
}

// enter notes a struct on the way, and is where its fields are.
func (f *finding) enter(s *ast.StructLit, rest []string, depth int, at hit) hit {
	if !s.Lbrace.IsValid() {
		if depth == zoneDepth && f.chain == nil {
			f.chain = s
		}
		return at
	}
	if depth >= zoneDepth && (f.in == nil || len(rest) < len(f.rest)) {
		f.in, f.rest = s, rest
	}
	return hit{in: s}
}

// structsOf are the literal structs that a value is made of.
func structsOf(value ast.Expr) []*ast.StructLit {
	switch v := value.(type) {
	case *ast.StructLit:
		return []*ast.StructLit{v}
	case *ast.ParenExpr:
		return structsOf(v.X)
	case *ast.BinaryExpr:
		if v.Op == token.AND {
			return append(structsOf(v.X), structsOf(v.Y)...)
		}
	}
	return nil
}

// splice replaces a part of a text.
func splice(text []byte, from, to int, by string) []byte {
	return slices.Concat(text[:from], []byte(by), text[to:])
}

// replace changes the values at all places, the last first so that the others stay where
// they are.
func replace(text []byte, hits []hit, c Change) []byte {
	for _, h := range slices.Backward(hits) {
		value := h.field.Value
		from, to := value.Pos().Offset(), value.End().Offset()
		p := printer{}
		p.leaf(*c.after)
		by := p.String()
		if list, ok := value.(*ast.ListLit); ok && c.after.isList() && c.before != nil {
			if edited, ok := editList(text, list, *c.before, *c.after); ok {
				by = edited
			}
		}
		text = splice(text, from, to, by)
	}
	return text
}

// editList adds and removes elements of a list, and leaves the others with their comments.
func editList(text []byte, list *ast.ListLit, before, after field) (string, bool) {
	from, to := list.Lbrack.Offset(), list.Rbrack.Offset()+1
	if len(list.Elts) != len(before.items) {
		return "", false
	}
	var kept []string
	removed := map[int]bool{}
	for i, item := range before.items {
		if slices.Contains(after.items, item) {
			kept = append(kept, item)
		} else {
			removed[i] = true
		}
	}
	if !slices.Equal(kept, after.items[:min(len(kept), len(after.items))]) {
		return "", false // the order changes
	}
	added, notes := after.items[len(kept):], after.notes
	if len(notes) > 0 {
		notes = notes[len(kept):]
	}
	if !bytes.ContainsRune(text[from:to], '\n') {
		var items []string
		for i, e := range list.Elts {
			if !removed[i] {
				items = append(items, string(text[e.Pos().Offset():e.End().Offset()]))
			}
		}
		line := "[" + strings.Join(append(items, added...), ", ") + "]"
		return line, len(line) <= shortLine
	}
	return editLines(text, list, removed, added, notes)
}

// editLines edits a list that has each element on lines of its own.
func editLines(text []byte, list *ast.ListLit, removed map[int]bool, added, notes []string) (string, bool) {
	from, end := list.Lbrack.Offset(), list.Rbrack.Offset()
	out := append([]byte(nil), text[from:lineStart(text, end)]...)
	if lineStart(text, end) <= from || len(bytes.TrimSpace(text[lineStart(text, end):end])) > 0 {
		return "", false // the closing bracket is not on a line of its own
	}
	last := -1
	for i, e := range list.Elts {
		first := lineStart(text, e.Pos().Offset())
		if first <= last || first <= from {
			return "", false
		}
		last = e.End().Offset()
		if removed[i] {
			for at := first; at < lineEnd(text, last); at++ {
				out[at-from] = 0
			}
		}
	}
	out = bytes.ReplaceAll(out, []byte{0}, nil)
	p := printer{}
	for i, item := range added {
		p.WriteString("\t" + item + ",")
		if i < len(notes) && notes[i] != "" {
			p.WriteString(" // " + notes[i])
		}
		p.WriteString("\n")
	}
	return string(out) + p.String() + string(text[lineStart(text, end):end]) + "]", true
}

// lineStart is where the line of an offset begins; lineEnd is behind its line break.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// remove takes fields away, with their lines; comments above them stay.
func remove(text []byte, hits []hit) []byte {
	for _, h := range slices.Backward(hits) {
		from, to := h.top.Pos().Offset(), h.top.End().Offset()
		before := bytes.TrimSpace(text[lineStart(text, from):from])
		after := bytes.TrimSpace(text[to:lineEnd(text, to)])
		switch {
		case len(before) == 0 && (len(after) == 0 || bytes.HasPrefix(after, []byte("//"))):
			from, to = lineStart(text, from), lineEnd(text, to)
		case bytes.HasPrefix(after, []byte(",")):
			to += bytes.IndexByte(text[to:], ',') + 1
			for to < len(text) && text[to] == ' ' {
				to++
			}
		case bytes.HasSuffix(before, []byte(",")):
			from = bytes.LastIndexByte(text[:from], ',')
		}
		text = splice(text, from, to, "")
	}
	return text
}

// insert adds a member to a zone: in the innermost struct on its way, or at the end of the
// file where the zone has none.
func insert(text []byte, found *finding, path []string, f field) []byte {
	labels := found.rest
	switch {
	case found.in == nil && found.chain != nil:
		labels = path[zoneDepth:]
	case found.in == nil:
		labels = path
	}
	p := printer{}
	for _, label := range labels {
		p.WriteString(Label(label) + ": ")
	}
	p.leaf(f)
	if found.in == nil && found.chain != nil {
		return unchain(text, found.chain, p.String())
	}
	if found.in == nil {
		return slices.Concat(bytes.TrimRight(text, "\n"), []byte("\n\n"+p.String()+"\n"))
	}
	open, end := found.in.Lbrace.Offset(), found.in.Rbrace.Offset()
	if bytes.ContainsRune(text[open:end], '\n') {
		start := lineStart(text, end)
		if len(bytes.TrimSpace(text[start:end])) > 0 {
			return splice(text, end, end, "\n"+p.String()+"\n")
		}
		indent := string(text[start:end]) + "\t"
		return splice(text, start, start, indent+strings.ReplaceAll(p.String(), "\n", "\n"+indent)+"\n")
	}
	indent := indentAt(text, open)
	var lines strings.Builder
	for _, e := range found.in.Elts {
		lines.WriteString(indent + "\t" + string(text[e.Pos().Offset():e.End().Offset()]))
	}
	lines.WriteString(indent + "\t" + strings.ReplaceAll(p.String(), "\n", indent+"\t") + indent)
	return splice(text, open+1, end, lines.String())
}

// unchain puts braces around a chain of labels, and a member beside it. A comment behind
// the chain becomes the first line inside.
func unchain(text []byte, chain *ast.StructLit, member string) []byte {
	from, to := chain.Pos().Offset(), chain.End().Offset()
	return block(text, from, to, []string{string(text[from:to]), member})
}

// indentAt is a line break with the indentation of a line.
func indentAt(text []byte, at int) string {
	line := text[lineStart(text, at):]
	return "\n" + string(line[:len(line)-len(bytes.TrimLeft(line, "\t "))])
}

// block puts elements, each on lines of its own, in braces in the place of a value. A comment
// behind the value becomes the first line inside.
func block(text []byte, from, to int, elements []string) []byte {
	indent := indentAt(text, from)
	behind := text[to:lineEnd(text, to)]
	if comment := bytes.TrimSpace(behind); bytes.HasPrefix(comment, []byte("//")) {
		elements = append([]string{string(comment)}, elements...)
		to += len(bytes.TrimRight(behind, "\n"))
	}
	var inside strings.Builder
	for _, e := range elements {
		inside.WriteString(indent + "\t" + strings.ReplaceAll(e, "\n", indent+"\t"))
	}
	return splice(text, from, to, "{"+inside.String()+indent+"}")
}
