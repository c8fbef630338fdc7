package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Overrides in these tests are JSON with short names: R0 to R9 are rule ids,
// PL1 to PL4 paranoia tags.

func names(write bool) *strings.Replacer {
	var pairs []string
	add := func(short, long string) {
		if write {
			short, long = long, short
		}
		pairs = append(pairs, short, long)
	}
	for i := range 10 {
		add(fmt.Sprintf("R%d", i), string(ruleID(i)))
	}
	for level := 1; level <= edge.MaxParanoia; level++ {
		add(fmt.Sprintf("PL%d", level), edge.ParanoiaTag(level))
	}
	return strings.NewReplacer(pairs...)
}

func parseOverrides(t testing.TB, text string) *edge.Overrides {
	t.Helper()
	if text == "" {
		return nil
	}
	var o edge.Overrides
	if err := json.Unmarshal([]byte(names(false).Replace(text)), &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

func overridesText(t testing.TB, o *edge.Overrides) string {
	t.Helper()
	if o == nil {
		return ""
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return names(true).Replace(string(data))
}

func members(list ...string) map[Member]bool {
	set := map[Member]bool{}
	for _, m := range list {
		set[Member(names(false).Replace(m))] = true
	}
	return set
}

func paths(leftovers []Leftover) string {
	var list []string
	for _, l := range leftovers {
		list = append(list, names(true).Replace(string(l.Path)))
	}
	return strings.Join(list, " ")
}

// An intent is made by small changes of a deployment that declares nothing.
type intent func(*desired.Deployment)

func deployment(intents ...intent) desired.Deployment {
	d := enabledDeployment()
	for _, i := range intents {
		i(&d)
	}
	return d
}

func paranoia(level int) intent {
	return func(d *desired.Deployment) { d.Paranoia = declared(6, level) }
}

func threshold(score int, action edge.Action) intent {
	return func(d *desired.Deployment) {
		d.Threshold = &desired.Threshold{Score: *declared(7, score), Action: *declared(8, action)}
	}
}

func disableRule(ref desired.RuleRef) intent {
	return func(d *desired.Deployment) { d.Disable.Rules = append(d.Disable.Rules, *declared(9, ref)) }
}

func disableTag(tag string) intent {
	return func(d *desired.Deployment) { d.Disable.Tags = append(d.Disable.Tags, *declared(10, tag)) }
}

func unmanaged(decision desired.Unmanaged) intent {
	return func(d *desired.Deployment) { d.Unmanaged = declared(11, decision) }
}

var (
	keep   = unmanaged(desired.Keep)
	remove = unmanaged(desired.Remove)
)

func disabledRule(i int) intent { return disableRule(desired.RuleRef{ID: ruleID(i)}) }
