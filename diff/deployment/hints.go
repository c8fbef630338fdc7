package deployment

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge/nearest"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// didYouMean returns a hint naming the candidate nearest to name, or nothing
// when none is near enough to be a slip of the hand.
func didYouMean(name string, candidates []string) string {
	near := nearest.Word(name, candidates)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}
