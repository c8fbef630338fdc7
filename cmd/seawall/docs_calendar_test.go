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
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// deprecationDoc is the calendar that Seawall carries, a row for each rule. The calls and
// members of a rule are in what seawall deprecations list prints.
func deprecationDoc(t *testing.T) string {
	c, err := schema.Calendar()
	must.Do(t, err)
	var b strings.Builder
	fmt.Fprintf(&b, "Data as of %s: %s.\n\n", c.DataAsOf, c.Basis)
	b.WriteString("| date | rule | what ends | replacement |\n|---|---|---|---|\n")
	for _, r := range c.Rules {
		cells := []string{ruleDates(r), "`" + r.ID + "`", r.Title, cmp.Or(r.Replacement.Text, "None")}
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
	must.Do(t, err)
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

// effectsDoc is what the rules of the calendar do to the simulator. Rules that do the same
// share a row.
func effectsDoc(t *testing.T) string {
	c, err := schema.Calendar()
	must.Do(t, err)
	rules, days := map[[2]string][]string{}, map[[2]string]string{}
	var order [][2]string
	for _, e := range sim.Effects(c) {
		does := [2]string{e.Before, e.From}
		if rules[does] == nil {
			order = append(order, does)
		}
		rules[does] = append(rules[does], "`"+e.Rule+"`")
		if days[does] = e.Day; len(rules[does]) > 1 {
			days[does] = "its date"
		}
	}
	var b strings.Builder
	b.WriteString("| from | rule | before | from then on |\n|---|---|---|---|\n")
	for _, does := range order {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", days[does], strings.Join(rules[does], ", "), does[0], does[1])
	}
	return b.String()
}
