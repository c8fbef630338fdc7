package cuefile

import (
	"maps"
	"slices"

	"cuelang.org/go/cue/ast"

	"github.com/seawall-dev/seawall/desired"
)

// SharedZone is what a file has a zone be as a whole, beside what it says itself, as it is
// written: _gold of _gold & {id: "1"}; or nothing.
func SharedZone(text []byte, account, zone string) []string {
	found, _, err := find(text, wafPath(account, zone)[:zoneDepth])
	if err != nil {
		return nil
	}
	var parts zoneParts
	for _, h := range found.hits {
		parts.take(text, h.field.Value)
	}
	return slices.Compact(parts.shared)
}

// LeaveZone edits the text of a file as [Leave] does, for a zone that is as a whole what zones
// share: it declares its labels by itself, too.
func LeaveZone(text []byte, account string, zone desired.Zone, words Words) ([]byte, error) {
	path := wafPath(account, zone.Key)[:zoneDepth]
	found, formatted, err := find(text, path)
	switch {
	case err != nil:
		return nil, err
	case len(found.hits) == 0:
		return nil, ErrNoZone
	}
	var parts zoneParts
	for _, h := range found.hits {
		parts.take(text, h.field.Value)
	}
	if len(parts.shared) == 0 {
		return nil, ErrInherited
	}
	says := func(labels ...string) bool {
		f, _, err := find(text, slices.Concat(path, labels))
		return err == nil && len(f.hits) > 0
	}
	var elements []string
	if !zone.ByName && !says("id") {
		elements = append(elements, "id: "+String(zone.Scope.ID))
	}
	elements = append(elements, parts.own...)
	for _, key := range slices.Sorted(maps.Keys(zone.Labels)) {
		if !says("labels", key) {
			elements = append(elements, "labels: "+Label(key)+": "+String(zone.Labels[key]))
		}
	}
	waf, err := wafText(zone, words)
	if err != nil {
		return nil, err
	}
	value := found.hits[0].field.Value
	from, to := value.Pos().Offset(), value.End().Offset()
	text = remove(text, found.hits[1:]) // they come later in the file
	return tidy(splice(text, from, to, braces(indentAt(text, from), append(elements, waf))), formatted)
}

// zoneParts are what a zone's value is made of.
type zoneParts struct {
	own    []string // its own members, without what it runs
	shared []string // what it refers to
}

func (p *zoneParts) take(text []byte, value ast.Expr) {
	switch v := value.(type) {
	case *ast.ParenExpr:
		p.take(text, v.X)
	case *ast.BinaryExpr:
		p.take(text, v.X)
		p.take(text, v.Y)
	case *ast.StructLit:
		for _, e := range v.Elts {
			p.member(text, e)
		}
	default:
		p.shared = append(p.shared, source(text, value))
	}
}

func (p *zoneParts) member(text []byte, e ast.Decl) {
	switch e := e.(type) {
	case *ast.EmbedDecl:
		p.take(text, e.Expr)
		return
	case *ast.CommentGroup:
		return
	case *ast.Field:
		if name, _, err := ast.LabelName(e.Label); err == nil && name == "waf" {
			return
		}
	}
	p.own = append(p.own, source(text, e))
}
