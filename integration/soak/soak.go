// Package soak says how much tests do: a part of what is slow and rarely red, or, in
// `make soak`, all of it.
package soak

import (
	"flag"
	"fmt"
	"os"

	"github.com/seawall-dev/seawall/integration/must"
)

// On is whether tests do all that they can.
var On = os.Getenv("SEAWALL_TEST_SOAK") != ""

// usual is how often laws draw in a package that says so to [Main].
var usual string

// AtOnce has so many tests of a package run at once, as most of them wait. -parallel still has the last
// word. To be called before [Main].
func AtOnce(n int) {
	if err := flag.Set("test.parallel", fmt.Sprint(n)); err != nil {
		panic(err)
	}
}

// Main runs the tests of a package, of which each law draws so often where nobody has said how
// often (0: as rapid does) and the temporary files are in memory. In a soak they are on the
// disk, and laws draw as often as it says. It returns the exit code.
func Main(m interface{ Run() (code int) }, draws int) int {
	if On || os.Getenv("RAPID_CHECKS") != "" {
		return m.Run()
	}
	if checks := flag.Lookup("rapid.checks"); draws > 0 && checks != nil && checks.Value.String() == checks.DefValue {
		usual = fmt.Sprint(draws)
		if err := checks.Value.Set(usual); err != nil {
			panic(err)
		}
	}
	remove := must.InMemory()
	defer remove()
	return m.Run()
}

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
	before := checks.Value.String()
	if On || os.Getenv("RAPID_CHECKS") != "" || before != checks.DefValue && before != usual {
		return
	}
	t.Cleanup(func() { _ = checks.Value.Set(before) })
	_ = checks.Value.Set(fmt.Sprint(n))
}
