package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// tokenServer answers the calls on tokens.
type tokenServer struct{ *Server }

// tokenCall makes the platform do one of the calls that are known beyond the
// reference.
func (s tokenServer) tokenCall(ctx context.Context, r request) (result any, info *wire.Info, err error) {
	switch r.route.Call {
	case edge.CallUserTokens:
		return s.userTokens(ctx, r)
	case edge.CallUserToken:
		result, err = s.answerToken(s.tokensOf(r.route).UserToken(ctx, r.route.Token))
	case edge.CallVerifyToken:
		result, err = s.verifyToken(ctx, r)
	case edge.CallPermissionGroups:
		result, err = s.permissionGroups(ctx, r)
	case edge.CallUpdateToken:
		result, err = s.updateToken(ctx, r)
	case edge.CallDeleteToken:
		result, err = map[string]edge.TokenID{"id": r.route.Token}, s.tokensOf(r.route).DeleteToken(ctx, r.route.Token)
	case edge.CallRollToken:
		result, err = s.rollToken(ctx, r)
	default:
		err = failed(http.StatusNotFound, edge.CodeNoRoute, "this simulator does not offer "+string(r.route.Call))
	}
	return result, nil, err
}

func (s tokenServer) answerToken(token edge.Token, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.spelling().EncodeToken(token)
}

// userTokens is one page of the list.
func (s tokenServer) userTokens(ctx context.Context, r request) (any, *wire.Info, error) {
	tokens, err := s.tokensOf(r.route).UserTokens(ctx)
	if err != nil {
		return nil, nil, err
	}
	tokens, info, err := numbered(tokens, r.URL.Query())
	if err != nil {
		return nil, nil, err
	}
	result, err := s.spelling().EncodeTokens(tokens)
	return result, info, err
}

// queryNumber reads a number between two others, which may be missing.
func queryNumber(query url.Values, name string, missing, least, most int) (int, error) {
	said := query.Get(name)
	if said == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < least || n > most {
		return 0, failed(http.StatusBadRequest, 0, name+" must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return n, nil
}

// verifyToken tells of the token that asks: no more than that it works.
func (s tokenServer) verifyToken(ctx context.Context, r request) (any, error) {
	token, err := s.tokensOf(r.route).VerifyTokenOf(ctx, func(t mem.SeedToken) bool { return t.ID == r.who.token.ID })
	return verified{token.ID, token.Status, token.NotBefore, token.ExpiresOn}, err
}

type verified struct {
	ID        edge.TokenID `json:"id"`
	Status    string       `json:"status"`
	NotBefore string       `json:"not_before,omitempty"`
	ExpiresOn string       `json:"expires_on,omitempty"`
}

// permissionGroups lists the groups that pass the filters name and scope, which
// the profile vendor has.
func (s tokenServer) permissionGroups(ctx context.Context, r request) (json.RawMessage, error) {
	groups, err := s.tokensOf(r.route).PermissionGroups(ctx)
	if err != nil {
		return nil, err
	}
	if query := r.URL.Query(); s.config.Profile == mem.Vendor {
		name, scope := query.Get("name"), s.dialect.SwapKey(query.Get("scope"))
		groups = slices.DeleteFunc(groups, func(g edge.PermissionGroup) bool {
			return name != "" && g.Name != name || scope != "" && !slices.Contains(g.Scopes, scope)
		})
	}
	return s.dialect.EncodeGroups(groups)
}

func (s tokenServer) updateToken(ctx context.Context, r request) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
		return nil, err
	}
	return s.answerToken(s.tokensOf(r.route).UpdateTokenJSON(ctx, r.route.Token, s.dialect.Translate(raw)))
}

// rollToken takes a body or none: nothing in it counts.
func (s tokenServer) rollToken(ctx context.Context, r request) (json.RawMessage, error) {
	if len(r.body) > 0 {
		var ignored map[string]any
		if err := wire.DecodeBody(r.Header, r.body, &ignored); err != nil {
			return nil, err
		}
	}
	secret, err := s.tokensOf(r.route).RollToken(ctx, r.route.Token)
	if err != nil {
		return nil, err
	}
	return wire.EncodeSecret(secret)
}
