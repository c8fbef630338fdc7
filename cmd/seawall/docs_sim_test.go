package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/sim"
)

// effectsDoc is what the rules of the calendar do to the simulator. Rules that do the same
// share a row.
func effectsDoc(t *testing.T) string {
	c, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
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
