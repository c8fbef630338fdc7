package deprecation_test

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// rateLimits is a calendar with one rule. The calendar that Seawall carries is that of
// package cue/schema.
func rateLimits() deprecation.Calendar {
	return deprecation.Calendar{
		DataAsOf: "2026-01-01",
		Rules: []deprecation.Rule{{
			ID: "rate-limits", Title: "Rate limits of a zone", Date: "2026-06-15", Source: "an example",
			Replacement: deprecation.Replacement{Text: "rulesets of the phase http_ratelimit"},
			Endpoints: []deprecation.Endpoint{{
				Methods: []string{"GET", "POST"},
				Path:    "/zones/:zone_id/rate_limits",
				To:      "/zones/:zone_id/rulesets",
			}},
		}},
	}
}

func ExampleMatcher_Match() {
	matcher, err := deprecation.NewMatcher(rateLimits())
	if err != nil {
		panic(err)
	}
	day := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	for _, request := range []deprecation.Request{
		{Method: "GET", URL: "https://api.example.com/client/v4/zones/a1/rate_limits"},
		{Method: "DELETE", URL: "https://api.example.com/client/v4/zones/a1/rate_limits"},
	} {
		for _, notice := range matcher.Match(request, day) {
			fmt.Println(notice.Rule, notice.State, notice.DaysLeft, "days left")
			fmt.Println("instead:", notice.Rewrite.Method, notice.Rewrite.URL)
		}
	}
	// Output:
	// rate-limits announced 14 days left
	// instead: GET https://api.example.com/client/v4/zones/a1/rulesets
}

// A published date was wrong: a correction gives the rule another one.
func ExampleCalendar_With() {
	calendar, corrections, err := rateLimits().With([]deprecation.Addition{{ID: "rate-limits", Date: "2026-09-01"}})
	if err != nil {
		panic(err)
	}
	for _, correction := range corrections {
		fmt.Println(correction)
	}
	fmt.Println(calendar.Over("rate-limits", time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)))
	// Output:
	// rate-limits: date 2026-06-15 → 2026-09-01
	// false
}
