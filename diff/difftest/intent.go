package difftest

import (
	"encoding/json"
	"fmt"
	"strconv"
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

// All declares an override on the ruleset as a whole, in line 12.
func All(o desired.Override) Intent {
	return func(d *desired.Deployment) { d.All = o }
}

// Tag adds an override to the list of tags, in line 13.
func Tag(tag string, o desired.Override) Intent {
	return func(d *desired.Deployment) {
		d.Tags = append(d.Tags, desired.TagOverride{Tag: tag, Origin: At(13), Override: o})
	}
}

// RuleOf adds an override to the list of rules, in line 14.
func RuleOf(ref desired.RuleRef, o desired.Override) Intent {
	return func(d *desired.Deployment) {
		d.Rules = append(d.Rules, desired.RuleOverride{Rule: ref, Origin: At(14), Override: o})
	}
}

// Override reads members such as "enabled: false, action: log, sensitivity: low,
// score: 40", all declared in line 15.
func Override(text string) desired.Override {
	var o desired.Override
	for member := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(member, ": ")
		switch name {
		case "enabled":
			o.Enabled = Declared(15, value == "true")
		case "action":
			o.Action = Declared(15, edge.Action(value))
		case "sensitivity":
			o.Sensitivity = Declared(15, value)
		case "score":
			score, err := strconv.Atoi(value)
			if err != nil {
				panic(err)
			}
			o.Score = Declared(15, score)
		default:
			panic("difftest: an override has no member " + name)
		}
	}
	return o
}

// Unmanaged decides on what no declaration owns, in line 11.
func Unmanaged(decision desired.Unmanaged) Intent {
	return func(d *desired.Deployment) { d.Unmanaged = Declared(11, decision) }
}

// Decide decides on single overrides, in line 16.
func Decide(as desired.Unmanaged, all ...desired.Decision) Intent {
	return func(d *desired.Deployment) {
		for _, one := range all {
			one.Unmanaged, one.Origin = as, At(16)
			d.Decisions = append(d.Decisions, one)
		}
	}
}

// The two decisions on what no declaration owns.
var (
	Keep   = Unmanaged(desired.Keep)
	Remove = Unmanaged(desired.Remove)
)

// DisabledRule disables a rule of [Managed] by its id.
func DisabledRule(i int) Intent { return DisableRule(desired.RuleRef{ID: RuleID(i)}) }
