package deployment

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// planScene plans the deployments of a scene.
func planScene(s difftest.Scene) diff.Plan { return planWith(s, nil) }

// planWith does so with a memory.
func planWith(s difftest.Scene, memory *diff.Memory) diff.Plan {
	out := Kind{}.Plan(diff.Input{State: s.State, Live: s.Live, Applied: s.Applied, Prunable: s.Prunable, Memory: memory})
	p := diff.Gather(s.State.Commit, len(s.Live.EntryPoints), 0, out.Changes, out.Problems)
	p.Settled = out.Settled
	return p
}

// planOne plans one deployment of one zone, which has the rules given.
func planOne(d desired.Deployment, rules ...edge.Rule) diff.Plan {
	return planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(rules...)})
}
