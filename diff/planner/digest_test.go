package planner_test

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
)

// The ledger has approvals by their digest, and changes that were not kept by their
// fingerprint. Those of earlier versions must hold: if this test fails, an upgrade
// makes approvals void and sends again what the platform does not keep.
func TestDigestsOfEarlierVersionsHold(t *testing.T) {
	a, b := difftest.Token("ci-dns", difftest.RotatedZone), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	old := difftest.RecordOf(1, a, diff.TokenConfirmed)
	old.Prune, old.At = true, difftest.January
	listed := difftest.ListedAs([]diff.TokenRecord{old}, difftest.LiveToken(old))
	for name, c := range map[string]struct {
		plan                       diff.Plan
		whole, change, fingerprint string // digest for approval of the plan and of its change, and its fingerprint
	}{
		"update": {
			planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2), difftest.DisabledRule(0)), difftest.Execute(nil))),
			"sha256:0d3d4b28ce9322c05a6fa86dc644c5d2762a1fd444d78a061887bf88f6cdbcfc",
			"sha256:d1a276985679d268b834189af96b44f82b30db51b63f04751f1795b3bf81de21",
			"44a6eb3a097e86139749f48e79dd2a4f62b8b35a642b6a662568bd5a9a5996d8",
		},
		"create": {
			planner.Make(difftest.Tokens(difftest.January, diff.TokensLive{}, a)),
			"sha256:5ccb4e0d8cea1d754df422f98e56196312c9eee3df1de5a563a10659b8cd8949",
			"sha256:6899217441f361074ed6b2931730c63abb7ecf5af88ca9a02cd8076a016cb65c",
			"08af3d3350e45ace04ee86aa28e1dfa2f26f06a223103d1b2ec1b136b3c0dc8f",
		},
		"replace": {
			planner.Make(difftest.Tokens(difftest.January, diff.TokensLive{Records: []diff.TokenRecord{old}}, b)),
			"sha256:24657f23d5786fb9e671ba9b30ac8bc179673874b91579266f34c307bf081748",
			"sha256:256b876640b5d5274012c2be24846742ccb5cf925486ff74083b26c03949ad10",
			"f947ae8e549c3a4826b4ede6dc8fb581e963a55d2771802a777cf0675f288b5e",
		},
		"update of a token": {
			planner.Make(difftest.Tokens(difftest.January, listed, b)),
			"sha256:6eca1e0e908b2ab459aab6b5e621e5d0ac64baefc1a8741f23e9d4dd461a5d8e",
			"sha256:884b178d508220c20e435196749315dfc56332b077e9bace43062811aa617ed9",
			"8a407d37e5a9209c018eba841fe05bc057d30c6187c6d289dfa472d98302b104",
		},
		"delete": {
			planner.Make(difftest.Tokens(difftest.January, listed)),
			"sha256:6d4b5a43bffc88e05ea029a789ad41090a86d605341b71333b0775a3d8f34b8c",
			"sha256:4bfe38ba08683e40c00ffeb52588fbb3efc09f72d038754f895f3f2a754c0c7f",
			"25de5e3312a24c693c30675e11713ba9217ffdf3785a0544b88a1a1beaaa27b2",
		},
	} {
		change := c.plan.Changes[0]
		if got := c.plan.ApprovalDigest(); got != c.whole {
			t.Errorf("%s: the plan has %s", name, got)
		}
		if got := change.ApprovalDigest(); got != c.change {
			t.Errorf("%s: the change has %s", name, got)
		}
		if got := change.Fingerprint(); got != c.fingerprint {
			t.Errorf("%s: the fingerprint is %s", name, got)
		}
	}
}
