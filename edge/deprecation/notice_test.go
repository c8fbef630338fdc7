package deprecation_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Words for people name a day only where there is one, and an end only where
// that is what the day is.
func TestStanding(t *testing.T) {
	const announced, deprecated, past = deprecation.Announced, deprecation.Deprecated, deprecation.PastEnd
	for _, c := range []struct {
		state          deprecation.State
		date, extended deprecation.Date
		end            deprecation.End
		left           int
		want           string
	}{
		{announced, "2027-01-31", "", "", 71, "ends on 2027-01-31, in 71 days"},
		{announced, "2027-01-31", "2027-02-01", "", 1, "ends on 2027-02-01, tomorrow"},
		{announced, "2027-01-31", "", "", 0, "ends on 2027-01-31, today"}, // a header tells the time too
		{announced, "2024-05-31", "", deprecation.NotDated, 1, "is deprecated from 2024-05-31, tomorrow"},
		{announced, "2024-05-31", "", "2025-05-31", 9, "is deprecated from 2024-05-31, in 9 days"},
		{announced, "", "", "2027-01-31", 9, "ends on 2027-01-31, in 9 days"},
		{deprecated, "2024-05-31", "", deprecation.NotDated, -3, "is deprecated since 2024-05-31"},
		{deprecated, "2024-05-31", "", "2025-05-31", 2, "is deprecated since 2024-05-31, and ends on 2025-05-31, in 2 days"},
		{deprecated, "", "", "2025-05-31", 0, "is deprecated, and ends on 2025-05-31, today"},
		{deprecated, "", "", "", 0, "is deprecated"},
		{past, "2025-06-15", "", "", -3, "is past its end since 2025-06-15"},
		{past, "2025-02-21", "2025-05-23", "", 0, "is past its end since 2025-05-23"},
		{past, "2024-05-31", "", "2025-05-31", -3, "is past its end since 2025-05-31"},
		{past, "2027-01-01", "", "2025-05-31", -3, "is past its end since 2025-05-31"}, // headers that contradict each other
	} {
		n := deprecation.Notice{State: c.state, Date: c.date, Extended: c.extended, EndOfLife: c.end, DaysLeft: c.left}
		if got := n.Standing(); got != c.want {
			t.Errorf("%+v\n stands %q\n want   %q", c, got, c.want)
		}
	}
}

// The schedule's "None; …" says what there is all the same.
func TestInstead(t *testing.T) {
	for _, c := range []struct {
		text, want string
		none       bool
	}{
		{"Custom rules", "Custom rules", false},
		{"None", "nothing; there is no replacement", true},
		{"No API replacement", "nothing; there is no replacement", true},
		{"None; compression rules for enterprise override", "None; compression rules for enterprise override", true},
		{"", "not documented", false},
	} {
		if got := (deprecation.Notice{Replacement: c.text, NoReplacement: c.none}).Instead(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
