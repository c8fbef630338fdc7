package sink

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// instead helps whoever named a sink that is not there.
func (s *Sinks) instead(name string) string {
	names := slices.Sorted(maps.Keys(s.byName))
	if len(names) == 0 {
		return ", which has none"
	}
	if near := nearest.Word(name, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf(" (it has %s)", strings.Join(names, ", "))
}
