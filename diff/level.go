package diff

import "github.com/seawall-dev/seawall/edge"

// Counts reports whether what is of a level counts for limits, can be held and is changed in
// waves: what is not of a credential. It is false for a level that nobody knows, too, and
// whoever decides by levels must refuse those.
func Counts(l edge.Level) bool { return l == edge.LevelZone || l == edge.LevelAccount }

// Level is that of what the change is about; empty for what nobody knows.
func (c Change) Level() edge.Level { return c.Scope.Level }

// Level is that of what the problem is about; empty for a problem of the whole commit.
func (p Problem) Level() edge.Level { return p.Scope.Level }
