// Package compiletest makes CUE files for tests of what evaluates them: small
// inputs that CUE itself can neither bound nor survive, and a fleet of any size. [Tree]
// evaluates a whole tree.
//
// The inputs of [Hostile] must be evaluated in a process that has a memory
// limit and a timer, and whose death is expected. They are made in code
// because some are megabytes of one character.
package compiletest

import (
	"fmt"
	"strings"
)

// Ending is how the evaluation of a hostile input ends when nothing stops it.
type Ending string

// The endings.
const (
	Overflow Ending = "overflow" // the stack overflows: the process dies, recover does not help
	Endless  Ending = "endless"  // no end within 20 seconds
	Memory   Ending = "memory"   // gigabytes within seconds
)

// Input is one hostile file; it fits the limit of a file's size.
type Input struct {
	Name   string
	Ending Ending
	Text   string
}

// Hostile returns the inputs.
func Hostile() []Input {
	head := "package hostile\n"
	return []Input{
		{"long sum", Endless, head + "_x: 1" + strings.Repeat("+1", 500_000) + "\n"},
		{"deep fields", Overflow, head + strings.Repeat("a:", 500_000) + "1\n"},
		{"laughs", Memory, head + laughs(12)},
		{"disjunctions", Endless, head + disjunctions(24)},
		{"comprehension", Endless, head + "import \"list\"\n_x: [for a in list.Range(0, 1000, 1) for b in list.Range(0, 1000, 1) for c in list.Range(0, 1000, 1) {a + b + c}]\naccount: {if len(_x) > 0 {a: id: \"x\"}}\n"},
		{"doubling", Memory, head + doubling(32)},
	}
}

// laughs is the old joke in structs: each level holds ten of the one below.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("_l0: {x: 1}\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "_l%d: {", i)
		for j := range 10 {
			fmt.Fprintf(&b, "f%d: _l%d, ", j, i-1)
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "account: _l%d\n", levels)
	return b.String()
}

// disjunctions multiply: n of two alternatives have 2^n combinations.
func disjunctions(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("({a%d: 1} | {b%d: 1})", i, i)
	}
	return "account: " + strings.Join(parts, " & ") + "\n"
}

func doubling(n int) string {
	var b strings.Builder
	b.WriteString("_s0: \"xxxxxxxx\"\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "_s%d: _s%d + _s%d\n", i, i-1, i-1)
	}
	fmt.Fprintf(&b, "user: _s%d\n", n)
	return b.String()
}
