package bypass

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// hashDigits is how many hex digits of a digest are kept.
const hashDigits = 12

// Hash is a short digest of what a skip rule does: its action, expression, parameters, and
// whether it is enabled. Two rules that do the same have the same one: neither a description, nor
// the order of members or of ids in a list counts.
func Hash(rule edge.Rule) string {
	return words.Digest(struct {
		Action     edge.Action
		Expression string
		Parameters any
		Enabled    bool
	}{rule.Action, rule.Expression, parametersOf(rule), rule.IsEnabled()})[:hashDigits]
}

// parametersOf are the parameters of a rule in one form: without those that are null, lists in
// order. It is nil for none.
func parametersOf(rule edge.Rule) any {
	if rule.ActionParameters == nil {
		return nil
	}
	var parameters map[string]any
	decoder := json.NewDecoder(bytes.NewReader(words.JSON(rule.ActionParameters)))
	decoder.UseNumber() // keeps every digit
	if err := decoder.Decode(&parameters); err != nil {
		return nil // it is an object whenever it came from the platform
	}
	if canonical(parameters); len(parameters) == 0 {
		return nil
	}
	return parameters
}

func canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
				continue
			}
			v[name] = canonical(member)
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
		slices.SortStableFunc(v, func(a, b any) int {
			left, okA := a.(string)
			right, okB := b.(string)
			if !okA || !okB {
				return 0
			}
			return cmp.Compare(left, right)
		})
	}
	return v
}
