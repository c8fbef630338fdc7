package edgetest_test

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// brokenTokens are platforms with one mistake each in the calls on tokens.
var brokenTokens = map[string]mistake{
	"a failed list reads as none": {foundBy: "the list has every token", platform: onTokens(func(o *onToken) {
		o.list = func([]edge.Token, error) ([]edge.Token, error) { return nil, nil }
	})},
	"the last token of a list gets lost": {foundBy: "the list has every token", platform: onTokens(func(o *onToken) {
		o.list = func(list []edge.Token, err error) ([]edge.Token, error) { return list[:len(list)-1], err }
	})},
	"a condition gets lost": {foundBy: "a token has what was asked for", platform: onTokens(func(o *onToken) {
		o.read = func(token edge.Token, err error) (edge.Token, error) { token.Condition = nil; return token, err }
	})},
	"an empty list of addresses gets lost": {foundBy: "a token has what was asked for", platform: onTokens(func(o *onToken) {
		o.read = func(token edge.Token, err error) (edge.Token, error) {
			if token.Condition != nil && len(token.Condition.RequestIP.In) == 0 {
				token.Condition.RequestIP.In = nil
			}
			return token, err
		}
	})},
	"a missing token is a missing call": {foundBy: "a token that is not there is not found", platform: onTokens(func(o *onToken) {
		o.read = func(token edge.Token, err error) (edge.Token, error) {
			if errors.Is(err, edge.ErrNotFound) {
				err = edge.ErrNotOffered
			}
			return token, err
		}
	})},
	"an update merges": {foundBy: "an update of a token drops what it leaves out", platform: onTokens(func(o *onToken) {
		o.change = func(before edge.Token, body *edge.Token) {
			if body.Condition == nil {
				body.Condition = before.Condition
			}
		}
	})},
	"an update forgets the status": {foundBy: "a token can be switched off", platform: onTokens(func(o *onToken) {
		o.change = func(_ edge.Token, body *edge.Token) { body.Status = "active" }
	})},
	"an update drops ids of policies instead of refusing": {foundBy: "an update that is no token is refused", platform: onTokens(func(o *onToken) {
		o.change = func(_ edge.Token, body *edge.Token) {
			for i := range body.Policies {
				body.Policies[i].ID = ""
			}
		}
	})},
	"a deletion only says that it was":       {foundBy: "a deleted token is gone", platform: onTokens(func(o *onToken) { o.keepsDeleted = true })},
	"a roll gives the secret that there was": {foundBy: "a rolled token has another secret", platform: onTokens(func(o *onToken) { o.sameSecret = true })},
}

// onTokens changes what the calls on tokens do.
func onTokens(spoil func(*onToken)) func(*mem.Platform) both {
	return func(p *mem.Platform) both {
		o := &onToken{
			Platform: p,
			list:     func(list []edge.Token, err error) ([]edge.Token, error) { return list, err },
			read:     func(token edge.Token, err error) (edge.Token, error) { return token, err },
			change:   func(edge.Token, *edge.Token) {},
		}
		spoil(o)
		return o
	}
}

type onToken struct {
	*mem.Platform
	list                     func([]edge.Token, error) ([]edge.Token, error)
	read                     func(edge.Token, error) (edge.Token, error)
	change                   func(before edge.Token, body *edge.Token)
	keepsDeleted, sameSecret bool
}

func (o *onToken) UserTokens(ctx context.Context) ([]edge.Token, error) {
	return o.list(o.Platform.UserTokens(ctx))
}

func (o *onToken) UserToken(ctx context.Context, id edge.TokenID) (edge.Token, error) {
	return o.read(o.Platform.UserToken(ctx, id))
}

func (o *onToken) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	before, err := o.Platform.UserToken(ctx, id)
	if err != nil {
		return before, err
	}
	o.change(before, &body)
	return o.Platform.UpdateToken(ctx, id, body)
}

func (o *onToken) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if o.keepsDeleted {
		_, err := o.Platform.UserToken(ctx, id)
		return err
	}
	return o.Platform.DeleteToken(ctx, id)
}

func (o *onToken) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	if o.sameSecret {
		_, err := o.Platform.UserToken(ctx, id)
		return edge.NewSecret("the-same"), err
	}
	return o.Platform.RollToken(ctx, id)
}
