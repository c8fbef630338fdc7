package reconcile

import (
	"errors"
	"testing"

	"github.com/seawall-dev/seawall/diff"
)

// The secret of a token that was replaced never takes the place of its
// successor's, in whatever order their sink takes them.
func TestOlderSecretNeverReplacesANewerOne(t *testing.T) {
	for name, wakes := range map[string]int{"before the replacement": 1, "with it": 2, "after it": 3} {
		t.Run(name, func(t *testing.T) {
			w, s := tokenWorld(t)
			for run, zone := range []string{zoneA, zoneB, zoneB, zoneB} {
				s.fail = map[string]error{}
				if run < wakes {
					s.fail["deliver"] = errors.New("down")
				}
				pushTokens(w, "c"+zone, token("ci-dns", zone))
				w.run(sweep)
			}
			if s.sunk["ci-dns"] != "made-up-2" || len(s.existing) != 2 {
				t.Errorf("%d exist, sunk %v", len(s.existing), s.sunk)
			}
			for _, r := range s.live.Records {
				if r.State != diff.TokenConfirmed || r.ID == "t2" && !r.Delivered {
					t.Errorf("on record: %+v", r)
				}
			}
		})
	}
}
