package deprecation_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

func TestStandingInWords(t *testing.T) {
	for want, n := range map[string]deprecation.Notice{
		"ends on 2027-01-31, in 71 days":                                     {State: deprecation.Announced, Date: "2027-01-31", DaysLeft: 71},
		"ends on 2027-01-31, tomorrow":                                       {State: deprecation.Announced, Date: "2027-01-31", DaysLeft: 1},
		"ends on 2027-05-23, in 9 days":                                      {State: deprecation.Announced, Date: "2027-01-31", Extended: "2027-05-23", DaysLeft: 9},
		"is deprecated since 2024-05-31":                                     {State: deprecation.Deprecated, Date: "2024-05-31", EndOfLife: deprecation.NotDated, DaysLeft: -900},
		"is deprecated since 2024-05-31, and ends on 2026-12-01, in 10 days": {State: deprecation.Deprecated, Date: "2024-05-31", EndOfLife: "2026-12-01", DaysLeft: 10},
		"is past its end since 2025-06-15":                                   {State: deprecation.PastEnd, Date: "2025-06-15", DaysLeft: -500},
		"is past its end since 2026-06-15":                                   {State: deprecation.PastEnd, Date: "2025-06-15", EndOfLife: "2026-06-15", DaysLeft: -100},
	} {
		if got := n.Standing(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
