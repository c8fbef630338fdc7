package main

import (
	"log/slog"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
)

// Reviews and everything else together keep to the budget, and neither is without
// a request.
func TestReviewsHaveABudgetOfTheirOwn(t *testing.T) {
	for _, total := range []int{2, 9, 10, 11, 1200} {
		reviews, rest := reviewBudget(schema.Budget{Requests: total, Concurrency: 16})
		if reviews.Requests < 1 || rest.Requests < 1 || reviews.Requests+rest.Requests != total || reviews.Requests > max(1, total/reviewShare) {
			t.Errorf("of %d requests reviews have %d, the rest %d", total, reviews.Requests, rest.Requests)
		}
		if reviews.Concurrency != 16 || rest.Concurrency != 16 {
			t.Errorf("concurrency %d and %d", reviews.Concurrency, rest.Concurrency)
		}
	}
}

// Without source.verify anybody could write a trailer, so none is read.
func TestTrailersOfUnverifiedSources(t *testing.T) {
	p := newPulled(t)
	p.Git("commit", "-q", "--allow-empty", "-m", "Weaker", "-m", "Seawall-Approve: sha256:00")
	r, err := newRepository(schema.Config{StateDir: t.TempDir(), Source: p.heads.source}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	commit, err := r.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if said, err := r.agreed(t.Context(), commit); err != nil || len(said) > 0 {
		t.Errorf("approved %v, %v", said, err)
	}
	r.source.Verify = &schema.Verify{SSH: "/nowhere/signers"}
	if said, err := r.agreed(t.Context(), commit); err == nil || len(said) > 0 {
		t.Errorf("without keys: approved %v, %v", said, err)
	}
}
