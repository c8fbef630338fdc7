package setup

import (
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
)

// Reviews and everything else together keep to the budget, and neither is without
// a request.
func TestReviewsHaveABudgetOfTheirOwn(t *testing.T) {
	for _, total := range []int{2, 9, 10, 11, 1200} {
		all := schema.Budget{Requests: total, Concurrency: 16}
		reviews, rest := reviewPart(all), Settings{Config: schema.Config{Forge: &schema.Forge{}}}.beyondReviews(all)
		if reviews.Requests < 1 || rest.Requests < 1 || reviews.Requests+rest.Requests != total || reviews.Requests > max(1, total/reviewShare) {
			t.Errorf("of %d requests reviews have %d, the rest %d", total, reviews.Requests, rest.Requests)
		}
		if reviews.Concurrency != 16 || rest.Concurrency != 16 {
			t.Errorf("concurrency %d and %d", reviews.Concurrency, rest.Concurrency)
		}
	}
}
