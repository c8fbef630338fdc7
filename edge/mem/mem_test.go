package mem_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
)

func TestSeedsAreValid(t *testing.T) {
	for name, seed := range map[string]mem.Seed{"default": mem.DefaultSeed(), "fleet": mem.Fleet(3)} {
		if err := seed.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
