package edgetest

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

// extended is a case for platforms that offer more of tokens than the reference
// shows. Another platform must say of each call that it does not offer it, and
// nothing else: not that a token is missing, and not that there are none.
func extended(run func(tester)) func(tester) {
	return func(t tester) {
		if t.Extended {
			run(t)
			return
		}
		before := t.tokenCount()
		for name, call := range tokenCalls(t.Context(), t.Tokens, nowhere) {
			t.Logf("%s", name)
			t.wantIs(patient(call), edge.ErrNotOffered, edge.ErrNotFound, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrUnreadable, edge.ErrInvalid)
		}
		if t.tokenCount() != before {
			t.Error("a call that is not offered took effect")
		}
	}
}

// tokenCalls are all calls beyond the reference, about one token.
func tokenCalls(ctx context.Context, p edge.Tokens, id edge.TokenID) map[string]func() error {
	return map[string]func() error{
		"list":   func() error { _, err := p.UserTokens(ctx); return err },
		"read":   func() error { _, err := p.UserToken(ctx, id); return err },
		"verify": func() error { _, err := p.VerifyToken(ctx); return err },
		"groups": func() error { _, err := p.PermissionGroups(ctx); return err },
		"update": func() error { _, err := p.UpdateToken(ctx, id, edge.Token{TokenSpec: aSpec("x")}); return err },
		"delete": func() error { return p.DeleteToken(ctx, id) },
		"roll":   func() error { _, err := p.RollToken(ctx, id); return err },
	}
}
