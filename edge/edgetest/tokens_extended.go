package edgetest

import "github.com/seawall-dev/seawall/edge"

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
		for name, call := range tokenCalls(t, t.Tokens, nowhere) {
			t.Logf("%s", name)
			t.wantIs(patient(call), edge.ErrNotOffered, edge.ErrNotFound, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrUnreadable, edge.ErrInvalid)
		}
		if t.tokenCount() != before {
			t.Error("a call that is not offered took effect")
		}
	}
}

// tokenCalls are all calls beyond the reference, about one token.
func tokenCalls(t tester, p edge.Tokens, id edge.TokenID) map[string]func() error {
	return map[string]func() error{
		"list":   func() error { _, err := p.UserTokens(t.Context()); return err },
		"read":   func() error { _, err := p.UserToken(t.Context(), id); return err },
		"verify": func() error { _, err := p.VerifyToken(t.Context()); return err },
		"groups": func() error { _, err := p.PermissionGroups(t.Context()); return err },
		"update": func() error {
			_, err := p.UpdateToken(t.Context(), id, edge.Token{TokenSpec: aSpec("x")})
			return err
		},
		"delete": func() error { return p.DeleteToken(t.Context(), id) },
		"roll":   func() error { _, err := p.RollToken(t.Context(), id); return err },
	}
}
