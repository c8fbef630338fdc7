package deprecation_test

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

func builtin(t testing.TB) (deprecation.Calendar, *deprecation.Matcher) {
	t.Helper()
	c, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	m, err := deprecation.NewMatcher(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

func day(t testing.TB, d deprecation.Date) time.Time {
	t.Helper()
	if _, err := deprecation.ParseDate(string(d)); err != nil {
		t.Fatal(err)
	}
	return d.Time()
}
