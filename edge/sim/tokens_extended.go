package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// tokenCall makes the platform do one of the calls that are known beyond the
// reference.
func (s *Server) tokenCall(ctx context.Context, r request) (result any, info *wire.Info, err error) {
	switch r.route.Call {
	case wire.UserTokens:
		return s.userTokens(ctx, r.URL.Query())
	case wire.UserToken:
		result, err = s.answerToken(s.Platform.UserToken(ctx, r.route.Token))
	case wire.VerifyToken:
		result, err = s.verifyToken(ctx, r.who)
	case wire.PermissionGroups:
		result, err = s.permissionGroups(ctx)
	case wire.UpdateToken:
		result, err = s.updateToken(ctx, r)
	case wire.DeleteToken:
		result, err = map[string]edge.TokenID{"id": r.route.Token}, s.Platform.DeleteToken(ctx, r.route.Token)
	case wire.RollToken:
		result, err = s.rollToken(ctx, r)
	default:
		err = failed(http.StatusNotFound, edge.CodeNoRoute, "this simulator does not offer "+string(r.route.Call))
	}
	return result, nil, err
}

func (s *Server) answerToken(token edge.Token, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.spelling().EncodeToken(token)
}

// Sizes of a page of tokens, as known beyond the reference.
const (
	leastTokens   = 5
	defaultTokens = 20
	mostTokens    = 50
)

// userTokens is one page of the list. The query members are page, counted from
// 1, and per_page; a page beyond the last is empty.
func (s *Server) userTokens(ctx context.Context, query url.Values) (any, *wire.Info, error) {
	page, err := queryNumber(query, "page", 1, 1, 1<<20)
	if err != nil {
		return nil, nil, err
	}
	perPage, err := queryNumber(query, "per_page", defaultTokens, leastTokens, mostTokens)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := s.Platform.UserTokens(ctx)
	if err != nil {
		return nil, nil, err
	}
	total := len(tokens)
	tokens = tokens[min((page-1)*perPage, total):min(page*perPage, total)]
	result, err := s.spelling().EncodeTokens(tokens)
	return result, &wire.Info{
		Page: new(page), PerPage: new(perPage), Count: new(len(tokens)),
		TotalCount: new(total), TotalPages: new((total + perPage - 1) / perPage),
	}, err
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
func (s *Server) verifyToken(ctx context.Context, who caller) (any, error) {
	token, err := s.Platform.VerifyTokenOf(ctx, func(t mem.SeedToken) bool { return t.ID == who.token.ID })
	return verified{token.ID, token.Status, token.NotBefore, token.ExpiresOn}, err
}

type verified struct {
	ID        edge.TokenID `json:"id"`
	Status    string       `json:"status"`
	NotBefore string       `json:"not_before,omitempty"`
	ExpiresOn string       `json:"expires_on,omitempty"`
}

func (s *Server) permissionGroups(ctx context.Context) (json.RawMessage, error) {
	groups, err := s.Platform.PermissionGroups(ctx)
	if err != nil {
		return nil, err
	}
	return s.dialect.EncodeGroups(groups)
}

func (s *Server) updateToken(ctx context.Context, r request) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
		return nil, err
	}
	return s.answerToken(s.Platform.UpdateTokenJSON(ctx, r.route.Token, s.dialect.Translate(raw)))
}

// rollToken takes a body or none: nothing in it counts.
func (s *Server) rollToken(ctx context.Context, r request) (json.RawMessage, error) {
	if len(r.body) > 0 {
		var ignored map[string]any
		if err := wire.DecodeBody(r.Header, r.body, &ignored); err != nil {
			return nil, err
		}
	}
	secret, err := s.Platform.RollToken(ctx, r.route.Token)
	if err != nil {
		return nil, err
	}
	return wire.EncodeSecret(secret)
}
