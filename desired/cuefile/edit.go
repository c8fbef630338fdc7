package cuefile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
)

// ErrInherited is a member that a file does not declare for the zone, and that no
// declaration of the zone can take away.
var ErrInherited = errors.New("the value comes from elsewhere, and a zone cannot take it away")

// ErrNoZone is a file that does not declare the zone.
var ErrNoZone = errors.New("the file does not declare the zone")

// Declares reports whether a file has the member of a change in the zone itself, and not
// in something that the zone refers to.
func Declares(text []byte, account, zone string, c Change) bool {
	found, _, err := find(text, c.fullPath(account, zone))
	return err == nil && len(found.hits) > 0
}

// Apply edits the text of a file so that a zone declares what a change says: the value in
// its place, or a new member in the zone. Comments, and the format of everything else,
// stay. A file that was formatted as cue fmt does is so again.
func Apply(text []byte, account, zone string, c Change) ([]byte, error) {
	found, formatted, err := find(text, c.fullPath(account, zone))
	if err != nil {
		return nil, err
	}
	var edited []byte
	switch {
	case !found.zone:
		return nil, ErrNoZone
	case len(found.hits) > 0 && c.after == nil:
		edited = remove(text, found.hits)
	case len(found.hits) > 0:
		edited = replace(text, found.hits, c)
	case c.after != nil:
		edited = insert(text, found, *c.after)
	case c.before.isList():
		edited = insert(text, found, field{path: c.Path})
	default:
		return nil, ErrInherited
	}
	return tidy(edited, formatted)
}

// tidy formats a text that was formatted before it was edited.
func tidy(edited []byte, formatted bool) ([]byte, error) {
	if formatted {
		return format.Source(edited)
	}
	_, err := parser.ParseFile("", edited)
	return edited, err
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
		by := member(nil, *c.after)
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
				items = append(items, source(text, e))
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
func insert(text []byte, found *finding, f field) []byte {
	switch chain := found.chain; {
	case found.in == nil && chain != nil:
		from, to := chain.Pos().Offset(), chain.End().Offset()
		return block(text, from, to, []string{string(text[from:to]), member(found.path[zoneDepth:], f)})
	case found.in == nil:
		return slices.Concat(bytes.TrimRight(text, "\n"), []byte("\n\n"+member(found.path, f)+"\n"))
	}
	added := member(found.rest, f)
	open, end := found.in.Lbrace.Offset(), found.in.Rbrace.Offset()
	if bytes.ContainsRune(text[open:end], '\n') {
		start := lineStart(text, end)
		if len(bytes.TrimSpace(text[start:end])) > 0 {
			return splice(text, end, end, "\n"+added+"\n")
		}
		indent := string(text[start:end]) + "\t"
		return splice(text, start, start, indent+strings.ReplaceAll(added, "\n", "\n"+indent)+"\n")
	}
	var elements []string
	for _, e := range found.in.Elts {
		elements = append(elements, source(text, e))
	}
	return splice(text, open, end+1, braces(indentAt(text, open), append(elements, added)))
}

// member is a field below labels.
func member(labels []string, f field) string {
	p := printer{}
	for _, label := range labels {
		p.WriteString(Label(label) + ": ")
	}
	p.leaf(f)
	return p.String()
}

// source is a part of a text.
func source(text []byte, n ast.Node) string { return string(text[n.Pos().Offset():n.End().Offset()]) }

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
	return splice(text, from, to, braces(indent, elements))
}

// braces are elements, each on lines of its own, in a struct behind an indentation.
func braces(indent string, elements []string) string {
	text := "{"
	for _, e := range elements {
		text += indent + "\t" + strings.ReplaceAll(e, "\n", indent+"\t")
	}
	return text + indent + "}"
}
