package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// deprecationDoc is the calendar that Seawall carries, a row for each rule.
func deprecationDoc(t *testing.T) string {
	c, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Data as of %s: %s.\n\n", c.DataAsOf, c.Basis)
	b.WriteString("| date | rule | what ends | replacement |\n|---|---|---|---|\n")
	for _, r := range c.Rules {
		cells := []string{ruleDates(r), "`" + r.ID + "`", ruleScope(r), ruleReplacement(r)}
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// TestDeprecationDocExamples compiles what the page tells people to write.
func TestDeprecationDocExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/deprecations.md")
	if err != nil {
		t.Fatal(err)
	}
	cueBlock := regexp.MustCompile("(?s)```cue\n(.*?)```")
	text := "package edge\n"
	for _, block := range cueBlock.FindAllStringSubmatch(string(generatedPart().ReplaceAll(page, nil)), -1) {
		text += block[1]
	}
	state, problems := compiletest.Tree(fstest.MapFS{"edge.cue": {Data: []byte(text)}}, ".", "")
	if len(problems) > 0 || len(state.Integrations) != 1 || len(state.Calendar) != 2 {
		t.Errorf("%v\n%s", problems, text)
	}
}

func ruleDates(r deprecation.Rule) string {
	out := string(r.Date)
	if r.Extended != "" {
		out += "<br>extended: " + string(r.Extended)
	}
	if r.EndOfLife != "" {
		out += "<br>end of life: " + string(r.EndOfLife)
	}
	for _, m := range r.Moved {
		out += fmt.Sprintf("<br>not in force: %s, %s", m.Date, m.Source)
	}
	return out
}

func ruleScope(r deprecation.Rule) string {
	out := []string{r.Title}
	for _, e := range r.Endpoints {
		out = append(out, callCell(e))
	}
	for _, q := range r.Query {
		form := string(q.Form) + ":…"
		if q.Form == deprecation.FormList {
			form = "…,…"
		}
		cell := fmt.Sprintf("`?%s=%s`", q.Param, form)
		if q.Extended {
			cell += " (the extended date)"
		}
		out = append(out, cell)
	}
	out = append(out, memberCells("in a request body", r.Body)...)
	out = append(out, memberCells("in an answer", r.Response)...)
	for _, h := range r.Headers {
		out = append(out, "headers "+strings.Join(h.All, " with "))
	}
	for _, e := range r.Affected {
		out = append(out, "affected: "+callCell(e))
	}
	if r.Note != "" {
		out = append(out, "*"+r.Note+".*")
	}
	return strings.Join(out, "<br>")
}

func callCell(e deprecation.Endpoint) string {
	methods := strings.Join(e.Methods, ", ")
	if methods == deprecation.AnyMethod {
		methods = "any method"
	}
	cell := fmt.Sprintf("%s `%s`", methods, e.Path)
	for _, path := range e.Also {
		cell += fmt.Sprintf(" or `%s`", path)
	}
	return cell
}

func memberCells(where string, members []deprecation.Member) []string {
	var out []string
	for _, m := range members {
		path := strings.TrimPrefix(m.In+"."+m.Path, ".")
		if m.Equals != "" {
			path += "=" + m.Equals
		}
		out = append(out, fmt.Sprintf("`%s` %s", path, where))
	}
	return out
}

func ruleReplacement(r deprecation.Rule) string {
	out := cmp.Or(r.Replacement.Text, "None")
	for _, e := range r.Endpoints {
		for _, v := range e.Values {
			out += fmt.Sprintf("<br>`%s` → `%s: %v`", v.From, e.Field, v.To)
		}
	}
	return out
}
