// Package soak says how much tests do: a part of what is slow and rarely red, or, in
// `make soak`, all of it.
package soak

import (
	"flag"
	"fmt"
	"os"
)

// On is whether tests do all that they can.
var On = os.Getenv("SEAWALL_TEST_SOAK") != ""

// Some are all variants of a test in a soak, and otherwise those that are named.
func Some[V any](variants map[string]V, named ...string) map[string]V {
	if On {
		return variants
	}
	chosen := map[string]V{}
	for _, name := range named {
		v, known := variants[name]
		if !known {
			panic(fmt.Sprintf("there is no variant %q", name))
		}
		chosen[name] = v
	}
	return chosen
}

// Draws has a test hold its law to n draws, where nobody has said how many; each is slow.
// The test runs beside no other.
func Draws(t interface{ Cleanup(stop func()) }, n int) {
	checks := flag.Lookup("rapid.checks")
	usual := checks.Value.String()
	if On || os.Getenv("RAPID_CHECKS") != "" || usual != checks.DefValue {
		return
	}
	t.Cleanup(func() { _ = checks.Value.Set(usual) })
	_ = checks.Value.Set(fmt.Sprint(n))
}
