package terraform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Reshape changes the text of one block as little as it takes for the resource to
// send another body: attributes that the new body lacks are cut out with their
// lines, texts that differ are replaced. It is false where that cannot be done.
func Reshape(text string, old, wanted []byte) (string, bool) {
	file, diags := hclsyntax.ParseConfig([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", false
	}
	body, ok := file.Body.(*hclsyntax.Body)
	var was, next map[string]any
	if !ok || len(body.Blocks) != 1 || json.Unmarshal(old, &was) != nil || json.Unmarshal(wanted, &next) != nil {
		return "", false
	}
	var edits []edit
	compare(body.Blocks[0].Body, was, next, &edits)
	if len(edits) == 0 {
		return "", false
	}
	return applied(text, edits), true
}

// edit replaces a part of a text; nil cuts its lines out.
type edit struct {
	from, to int
	text     *string
}

// compare collects what differs between two bodies, of those members that the block
// has as attributes or as blocks.
func compare(body *hclsyntax.Body, was, next map[string]any, edits *[]edit) {
	for name, old := range was {
		wanted, stays := next[name]
		if a := body.Attributes[name]; a != nil {
			*edits = append(*edits, ofAttribute(a, old, wanted, stays)...)
			continue
		}
		inner, isObject := old.(map[string]any)
		target, stillObject := wanted.(map[string]any)
		for _, b := range body.Blocks {
			if b.Type == name && isObject && stillObject {
				compare(b.Body, inner, target, edits)
			}
		}
	}
}

// ofAttribute is the edit of one attribute; none where it stays as it is. An object
// is compared by its items.
func ofAttribute(a *hclsyntax.Attribute, old, wanted any, stays bool) []edit {
	if !stays {
		return []edit{{from: a.SrcRange.Start.Byte, to: a.SrcRange.End.Byte}}
	}
	if object, ok := a.Expr.(*hclsyntax.ObjectConsExpr); ok {
		return ofItems(object, old, wanted)
	}
	text, isText := wanted.(string)
	if old == wanted || !isText {
		return nil
	}
	quoted := hclQuoted(text)
	return []edit{{from: a.Expr.Range().Start.Byte, to: a.Expr.Range().End.Byte, text: &quoted}}
}

func ofItems(object *hclsyntax.ObjectConsExpr, old, wanted any) []edit {
	next, ok := wanted.(map[string]any)
	if _, was := old.(map[string]any); !was || !ok {
		return nil
	}
	var edits []edit
	for _, item := range object.Items {
		if _, stays := next[hcl.ExprAsKeyword(item.KeyExpr)]; !stays {
			edits = append(edits, edit{from: item.KeyExpr.Range().Start.Byte, to: item.ValueExpr.Range().End.Byte})
		}
	}
	return edits
}

func hclQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{").Replace(text) + `"`
}

// applied makes the edits from the last to the first.
func applied(text string, edits []edit) string {
	out := []byte(text)
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		if e.text != nil {
			out = append(out[:e.from:e.from], append([]byte(*e.text), out[e.to:]...)...)
			continue
		}
		from := bytes.LastIndexByte(out[:e.from], '\n') + 1
		to := e.to
		for to < len(out) && (out[to] == ' ' || out[to] == ',' || out[to] == '\t') {
			to++
		}
		if to < len(out) && out[to] == '\n' && len(bytes.TrimSpace(out[from:e.from])) == 0 {
			to++ // the whole line
		} else {
			from, to = e.from, e.to
		}
		out = append(out[:from:from], out[to:]...)
	}
	return string(out)
}
