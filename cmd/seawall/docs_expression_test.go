package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/expression"
)

func fieldDoc(*testing.T) string {
	var b strings.Builder
	b.WriteString("| field | type | plan | only in | what it is |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(expression.Fields())) {
		f := expression.Fields()[name]
		plan := f.Plan
		if f.AddOn {
			plan += "+"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", f.Name, f.Type, plan, strings.Join(f.Phases, ", "), f.Is)
	}
	return b.String()
}

func functionDoc(*testing.T) string {
	var b strings.Builder
	b.WriteString("| function | returns | only in | what it returns |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(expression.Functions())) {
		f := expression.Functions()[name]
		phases := f.Phases
		if f.More {
			phases = append(slices.Clone(phases), "…")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.Signature, f.Returns, strings.Join(phases, ", "), f.Is)
	}
	return b.String()
}
