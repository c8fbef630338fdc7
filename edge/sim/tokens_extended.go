package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// tokensOf are the calls on the tokens that an address is about.
func (s *Server) tokensOf(route route) mem.TokenCalls {
	if route.account != "" {
		return s.Platform.AccountTokens(route.account)
	}
	return s.Platform.TokenCalls
}

// createToken answers with a secret, as nothing but rollToken does.
func (s *Server) createToken(r request) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
		return nil, err
	}
	created, err := s.tokensOf(r.route).CreateTokenJSON(r.Context(), s.dialect.Translate(raw))
	if err != nil {
		return nil, err
	}
	return s.spelling(created.ID).EncodeCreated(created)
}

func (s *Server) answerToken(token edge.Token, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.spelling(token.ID).EncodeToken(token)
}

func (s *Server) userToken(r request) (json.RawMessage, error) {
	return s.answerToken(s.tokensOf(r.route).UserToken(r.Context(), r.route.token))
}

func (s *Server) deleteToken(r request) (map[string]edge.TokenID, error) {
	return map[string]edge.TokenID{"id": r.route.token}, s.tokensOf(r.route).DeleteToken(r.Context(), r.route.token)
}

// userTokens is one page of the list.
func (s *Server) userTokens(r request) (any, *wire.Info, error) {
	tokens, err := s.tokensOf(r.route).UserTokens(r.Context())
	if err != nil {
		return nil, nil, err
	}
	tokens, info, err := numbered(tokens, r.URL.Query())
	if err != nil {
		return nil, nil, err
	}
	list := make([]json.RawMessage, len(tokens)) // an empty one is an array, too
	for i, token := range tokens {
		if list[i], err = s.answerToken(token, nil); err != nil {
			return nil, nil, err
		}
	}
	return list, info, nil
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
func (s *Server) verifyToken(r request) (any, error) {
	token, err := s.tokensOf(r.route).VerifyTokenOf(r.Context(), func(t mem.SeedToken) bool { return t.ID == r.who.token.ID })
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
func (s *Server) permissionGroups(r request) (json.RawMessage, error) {
	groups, err := s.tokensOf(r.route).PermissionGroups(r.Context())
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

func (s *Server) updateToken(r request) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := wire.DecodeBody(r.Header, r.body, &raw); err != nil {
		return nil, err
	}
	return s.answerToken(s.tokensOf(r.route).UpdateTokenJSON(r.Context(), r.route.token, s.dialect.Translate(raw)))
}

// rollToken takes a body or none: nothing in it counts.
func (s *Server) rollToken(r request) (json.RawMessage, error) {
	if len(r.body) > 0 {
		var ignored map[string]any
		if err := wire.DecodeBody(r.Header, r.body, &ignored); err != nil {
			return nil, err
		}
	}
	secret, err := s.tokensOf(r.route).RollToken(r.Context(), r.route.token)
	if err != nil {
		return nil, err
	}
	return wire.EncodeSecret(secret)
}
