package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/sim"
)

// effectsDoc is what each rule of the calendar does to the simulator.
func effectsDoc(t *testing.T) string {
	c, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| from | rule | before | from then on |\n|---|---|---|---|\n")
	for _, e := range sim.Effects(c) {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", e.Day, e.Rule, e.Before, e.From)
	}
	return b.String()
}
