package deployment

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff/difftest"
)

// What one rule does is what it does among all, however many are asked for.
func TestEffectOfOneRule(t *testing.T) {
	m := index(difftest.Managed())
	rapid.Check(t, func(t *rapid.T) {
		o := difftest.GenOverrides(t)
		all, some := m.effects(o), effectsOf{managed: m, under: o}
		for i := range all {
			if one := m.effect(o, i); one != all[i] {
				t.Fatalf("rule %d does %+v, and among all %+v", i, one, all[i])
			}
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 2*fewAsked).Draw(t, "asked") {
			if some.of(i) != all[i] {
				t.Fatalf("rule %d does %+v, and among all %+v", i, some.of(i), all[i])
			}
		}
	})
}
