package deprecation_test

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

func builtin(t testing.TB) (deprecation.Calendar, *deprecation.Matcher) {
	t.Helper()
	c := must.JSON[deprecation.Calendar](t, "../../cue/schema/calendar.json")
	m, err := deprecation.NewMatcher(c)
	must.Do(t, err)
	return c, m
}

func day(t testing.TB, d deprecation.Date) time.Time {
	t.Helper()
	if _, err := deprecation.ParseDate(string(d)); err != nil {
		t.Fatal(err)
	}
	return d.Time()
}
