package planner

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/token"
	"github.com/seawall-dev/seawall/edge"
)

// What the driver of secrets asks of the kind that has them, beside a plan.

// DueTokens is [token.Due].
func DueTokens(tokens []desired.Token, live diff.TokensLive, listed func(owner edge.AccountID) bool, now time.Time) map[string]bool {
	return token.Due(tokens, live, listed, now)
}

// LeftOf is [token.Remaining].
func LeftOf(a diff.Amendment, live edge.Token) []diff.Field { return token.Remaining(a, live) }

// CreatesTokens is [token.CreatesTokens].
func CreatesTokens(ids []string) func(desired.PermissionGroup) bool { return token.CreatesTokens(ids) }
