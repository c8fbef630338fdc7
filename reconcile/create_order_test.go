package reconcile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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

// A declaration that returns to an earlier form, while the sink is down, does not
// wait for that form's secret: a later one is to take its place.
func TestSecretThatIsNeverDelivered(t *testing.T) {
	w, s := tokenWorld(t)
	s.fail["deliver"] = errors.New("the sink is down")
	for i, zone := range []string{zoneA, zoneB, zoneA} {
		pushTokens(w, fmt.Sprint("c", i), token("ci-dns", zone))
		w.run(sweep)
	}
	delete(s.fail, "deliver")
	w.run(sweep)
	w.converge(sweep)
	for _, made := range s.existing {
		if _, ok := made.Policies[0].Resources[edge.ResourceZone+zoneA]; made.Value.Reveal() == s.sunk["ci-dns"] && !ok {
			t.Error("the secret in use is of a token that is not as declared")
		}
	}
}
