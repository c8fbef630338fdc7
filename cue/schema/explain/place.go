package explain

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/seawall-dev/seawall/desired"
)

// Origin returns where a person declared v: the label of a struct's first
// declaration, patterns last, or the place of the value that won. Where the schema
// has won, it is the first place in their files that v is made of. It is zero for
// what no file of theirs says.
func Origin(v cue.Value) desired.Origin {
	if v.IncompleteKind() == cue.StructKind {
		if pos := declaration(v); pos.IsValid() {
			return originOf(pos)
		}
	}
	if pos := v.Pos(); users(pos) {
		return originOf(pos)
	}
	return originOf(firstPart(v, deepest))
}

// declaration finds the first field of a person that declares a struct. After
// unification the struct's own position is that of whatever conjunct came last, often
// a pattern far away.
func declaration(v cue.Value) token.Pos {
	_, conjuncts := v.Expr()
	for _, c := range conjuncts {
		if field, ok := c.Source().(*ast.Field); ok && users(field.Pos()) {
			return field.Pos()
		}
	}
	return token.NoPos
}

// deepest bounds how far down firstPart looks for a person's file.
const deepest = 3

// firstPart finds the first place in a person's file among the parts that v is
// unified of.
func firstPart(v cue.Value, depth int) token.Pos {
	op, parts := v.Expr()
	if op != cue.AndOp || depth == 0 {
		return token.NoPos
	}
	for _, part := range parts {
		if source := part.Source(); source != nil && users(source.Pos()) {
			return source.Pos()
		}
		if pos := firstPart(part, depth-1); pos.IsValid() {
			return pos
		}
	}
	return token.NoPos
}

func originOf(pos token.Pos) desired.Origin {
	if !users(pos) {
		return desired.Origin{}
	}
	p := pos.Position()
	return desired.Origin{File: p.Filename, Line: p.Line, Column: p.Column}
}

// users reports whether a position is in a person's file: those of the schema
// are rooted, and those of CUE's own packages have no suffix.
func users(pos token.Pos) bool {
	return pos.IsValid() && strings.HasSuffix(pos.Filename(), ".cue") && !strings.HasPrefix(pos.Filename(), "/")
}

// places chooses among the positions of an error.
type places struct{ own string }

// all returns the positions in a person's files, those of the own folder
// first, then those of the folders above, in the order CUE gave them.
func (pl places) all(err error) []token.Pos {
	var found []token.Pos
	for _, e := range errors.Errors(err) {
		for _, pos := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
			if users(pos) && !slices.Contains(found, pos) {
				found = append(found, pos)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b token.Pos) int { return pl.rank(a) - pl.rank(b) })
	return found
}

func (pl places) best(err error) token.Pos {
	if all := pl.all(err); len(all) > 0 {
		return all[0]
	}
	return token.NoPos
}

func (pl places) rank(pos token.Pos) int {
	dir := path.Dir(pos.Filename())
	switch {
	case dir == pl.own:
		return 0
	case dir == "." || strings.HasPrefix(pl.own, dir+"/"):
		return 1
	}
	return 2
}

// seeAlso is a hint that names the other places of a conflict.
func seeAlso(positions []token.Pos) string {
	if len(positions) == 0 {
		return ""
	}
	var at []string
	for _, pos := range positions[:min(len(positions), 3)] {
		at = append(at, fmt.Sprint(originOf(pos)))
	}
	return "see also " + strings.Join(at, ", ")
}
