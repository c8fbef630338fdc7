package guard

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
)

func refuseUndecided(c diff.Change) *diff.Refusal {
	unmanaged := c.Unmanaged()
	if len(unmanaged) == 0 {
		return nil
	}
	names := make([]string, len(unmanaged))
	for i, l := range unmanaged {
		names[i] = string(l.Path)
	}
	return &diff.Refusal{
		Guard:   diff.GuardUnmanaged,
		Reason:  fmt.Sprintf("live has %s that no declaration owns: %s", words.Count(len(names), "override", "overrides"), strings.Join(names, ", ")),
		Release: fmt.Sprintf(`unmanaged: "keep" or unmanaged: "remove" in the deployment at %s`, c.Origin),
	}
}
