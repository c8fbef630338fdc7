package difftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Names replaces the short names that overrides have in tests, or writes them: R0 to
// R9 are rule ids, PL1 to PL4 paranoia tags.
func Names(write bool) *strings.Replacer {
	var pairs []string
	add := func(short, long string) {
		if write {
			short, long = long, short
		}
		pairs = append(pairs, short, long)
	}
	for i := range 10 {
		add(fmt.Sprintf("R%d", i), string(RuleID(i)))
	}
	for level := 1; level <= edge.MaxParanoia; level++ {
		add(fmt.Sprintf("PL%d", level), edge.ParanoiaTag(level))
	}
	return strings.NewReplacer(pairs...)
}

// ParseOverrides reads JSON with short names; nil for empty text.
func ParseOverrides(t testing.TB, text string) *edge.Overrides {
	t.Helper()
	if text == "" {
		return nil
	}
	var o edge.Overrides
	if err := json.Unmarshal([]byte(Names(false).Replace(text)), &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

// OverridesText writes overrides as JSON with short names.
func OverridesText(t testing.TB, o *edge.Overrides) string {
	t.Helper()
	if o == nil {
		return ""
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return Names(true).Replace(string(data))
}

// Members is a set of members with short names.
func Members(list ...string) map[diff.Member]bool {
	set := map[diff.Member]bool{}
	for _, m := range list {
		set[diff.Member(Names(false).Replace(m))] = true
	}
	return set
}

// Paths lists the members of leftovers with short names.
func Paths(leftovers []diff.Leftover) string {
	var list []string
	for _, l := range leftovers {
		list = append(list, Names(true).Replace(string(l.Path)))
	}
	return strings.Join(list, " ")
}

// Intent changes one thing of a deployment that declares nothing.
type Intent func(*desired.Deployment)

// Deployment declares some intents.
func Deployment(intents ...Intent) desired.Deployment {
	d := EnabledDeployment()
	for _, i := range intents {
		i(&d)
	}
	return d
}

// Paranoia declares a level, in line 6.
func Paranoia(level int) Intent {
	return func(d *desired.Deployment) { d.Paranoia = Declared(6, level) }
}

// Threshold declares a threshold, in line 7.
func Threshold(score int, action edge.Action) Intent {
	return func(d *desired.Deployment) {
		d.Threshold = &desired.Threshold{Score: *Declared(7, score), Action: *Declared(8, action)}
	}
}

// DisableRule disables a rule, in line 9.
func DisableRule(ref desired.RuleRef) Intent {
	return func(d *desired.Deployment) { d.Disable.Rules = append(d.Disable.Rules, *Declared(9, ref)) }
}

// DisableTag disables a tag, in line 10.
func DisableTag(tag string) Intent {
	return func(d *desired.Deployment) { d.Disable.Tags = append(d.Disable.Tags, *Declared(10, tag)) }
}

// Unmanaged decides on what no declaration owns, in line 11.
func Unmanaged(decision desired.Unmanaged) Intent {
	return func(d *desired.Deployment) { d.Unmanaged = Declared(11, decision) }
}

// The two decisions on what no declaration owns.
var (
	Keep   = Unmanaged(desired.Keep)
	Remove = Unmanaged(desired.Remove)
)

// DisabledRule disables a rule of [Managed] by its id.
func DisabledRule(i int) Intent { return DisableRule(desired.RuleRef{ID: RuleID(i)}) }
