package diff

import (
	"fmt"
	"strings"
)

func refuseUndecided(c Change) *Refusal {
	if len(c.Unmanaged) == 0 {
		return nil
	}
	names := make([]string, len(c.Unmanaged))
	for i, l := range c.Unmanaged {
		names[i] = string(l.Path)
	}
	return &Refusal{
		Guard:   "unmanaged",
		Reason:  fmt.Sprintf("live has %s that no declaration owns: %s", plural(len(names), "override", "overrides"), strings.Join(names, ", ")),
		Release: fmt.Sprintf(`unmanaged: "keep" or unmanaged: "remove" in the deployment at %s`, c.Origin),
	}
}
