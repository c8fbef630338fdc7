package reconcile

import (
	"context"
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
)

var _ RulesetMemory = (*Forgetful)(nil)

// SawRuleset implements [RulesetMemory].
func (f *Forgetful) SawRuleset(ctx context.Context, _ string, seen rulesets.Seen, means func(rulesets.Seen) radar.Published) (before *rulesets.Seen, news bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if before, news = f.sawRuleset(seen); news && before != nil { // it has no pages, and keeps only the versions
		means(*before)
	}
	return before, news, nil
}

func (f *Forgetful) sawRuleset(seen rulesets.Seen) (before *rulesets.Seen, news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen.Ruleset = rulesets.Facts(seen.Ruleset)
	var places []int // of the versions of this ruleset
	for i, s := range f.rulesets {
		if s.Account == seen.Account && s.Ruleset.ID == seen.Ruleset.ID {
			places = append(places, i)
		}
	}
	known := len(places)
	news = known == 0 || !reflect.DeepEqual(f.rulesets[places[known-1]].Ruleset, seen.Ruleset)
	if !news {
		known--
	}
	if known > 0 {
		before = new(f.rulesets[places[known-1]])
	}
	if news {
		if len(places) == MostVersions {
			f.rulesets = slices.Delete(slices.Clone(f.rulesets), places[0], places[0]+1)
		}
		f.rulesets = append(f.rulesets, seen)
	}
	return before, news
}

// Rulesets implements [RulesetMemory].
func (f *Forgetful) Rulesets(context.Context) ([]rulesets.Seen, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rulesets), nil
}
