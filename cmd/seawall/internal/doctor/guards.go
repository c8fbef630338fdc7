package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
)

// guards shows each guard of the configuration, and the one that counts without a word in it.
func (d *diagnosis) guards(_ context.Context, f *findings) {
	for _, g := range d.Guards.Rules {
		if g.Off {
			f.ok("guards."+g.Name, "off: a commit may weaken all zones at once, unless another guard limits it")
			continue
		}
		f.ok("guards."+g.Name, "%s", guardText(g))
	}
}

// guardText says in a line what a guard does.
func guardText(g schema.Guard) string {
	var parts []string
	if g.Changes != nil {
		parts = append(parts, "a commit may change "+limitText(*g.Changes))
	}
	if g.Weakening != nil {
		parts = append(parts, "a commit may weaken "+limitText(*g.Weakening))
	}
	switch g.Approve {
	case "all":
		parts = append(parts, "each change needs an approval")
	case "weakening":
		parts = append(parts, "each change that weakens needs an approval")
	}
	text := strings.Join(parts, "; ")
	if len(g.Labels) > 0 {
		text += fmt.Sprintf(", of the zones with %s", labelText(g.Labels))
	}
	return text
}

func limitText(l schema.Limit) string {
	zones := func(n int) string { return cli.Plural(n, "zone", "zones") }
	switch {
	case l.Percent == nil:
		return "at most " + zones(*l.Count)
	case l.Count == nil:
		return fmt.Sprintf("at most %d%% of the zones, or %s", *l.Percent, zones(l.Floor))
	}
	return fmt.Sprintf("at most %s, and at most %d%% of the zones, or %s", zones(*l.Count), *l.Percent, zones(l.Floor))
}

func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+": "+labels[key])
	}
	return strings.Join(parts, ", ")
}
