package cuefile

import (
	"bytes"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"

	"github.com/seawall-dev/seawall/desired"
)

// Shared is what a file has a zone share with others, as it is written: _gold, or nothing.
func Shared(text []byte, account, zone string) (shared []string) {
	found, _, err := find(text, wafPath(account, zone))
	if err != nil {
		return nil
	}
	for _, h := range found.hits {
		shared = append(shared, references(text, h.field.Value)...)
	}
	return slices.Compact(shared)
}

// Leave edits the text of a file so that a zone declares by itself all that it runs, and
// refers to nothing that zones share.
func Leave(text []byte, account string, zone desired.Zone, words Words) ([]byte, error) {
	found, formatted, err := find(text, wafPath(account, zone.Key))
	switch {
	case err != nil:
		return nil, err
	case !found.zone:
		return nil, ErrNoZone
	case len(found.hits) == 0:
		return nil, ErrInherited
	}
	waf, err := wafText(zone, words)
	if err != nil {
		return nil, err
	}
	return tidy(leave(text, found, waf), formatted)
}

// wafText is the member with all that a zone runs.
func wafText(zone desired.Zone, words Words) (string, error) {
	p := printer{}
	p.deployments(treeOf(fieldsOf(zone, words)), nil)
	waf, err := format.Source([]byte(p.String()))
	return strings.TrimRight(string(waf), "\n"), err
}

// Clear takes all that a zone runs out of a file that is not the one of [Leave]. A file that
// says nothing of it stays as it is.
func Clear(text []byte, account, zone string) ([]byte, error) {
	found, formatted, err := find(text, wafPath(account, zone))
	if err != nil || len(found.hits) == 0 {
		return text, err
	}
	return tidy(remove(text, found.hits), formatted)
}

// leave puts the text of a member in the place of the first hit, and removes the others.
func leave(text []byte, found *finding, waf string) []byte {
	first, others := found.hits[0], found.hits[1:]
	if chain := found.chain; chain != nil && slices.Contains(chain.Elts, ast.Decl(first.field)) {
		from, to := chain.Pos().Offset(), chain.End().Offset()
		if len(bytes.TrimSpace(text[to:lineEnd(text, to)])) == 0 {
			return splice(remove(text, others), from, to, strings.ReplaceAll(waf, "\n", indentAt(text, from)))
		}
		return block(remove(text, others), from, to, []string{waf})
	}
	if in := first.in; in != nil && !bytes.ContainsRune(text[in.Lbrace.Offset():in.Rbrace.Offset()], '\n') {
		elements := []string{}
		for _, e := range in.Elts {
			switch {
			case e == ast.Decl(first.top):
				elements = append(elements, waf)
			case !slices.ContainsFunc(others, func(h hit) bool { return ast.Decl(h.top) == e }):
				elements = append(elements, source(text, e))
			}
		}
		others = slices.DeleteFunc(slices.Clone(others), func(h hit) bool { return h.in == in })
		return block(remove(text, others), in.Lbrace.Offset(), in.Rbrace.Offset()+1, elements)
	}
	from, to := first.field.Pos().Offset(), first.field.End().Offset()
	return splice(remove(text, others), from, to, strings.ReplaceAll(waf, "\n", indentAt(text, from)))
}

// references are the parts of a value that are no literal struct.
func references(text []byte, value ast.Expr) []string {
	switch v := value.(type) {
	case *ast.StructLit:
		return nil
	case *ast.ParenExpr:
		return references(text, v.X)
	case *ast.BinaryExpr:
		return append(references(text, v.X), references(text, v.Y)...)
	}
	return []string{source(text, value)}
}
