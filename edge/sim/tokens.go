package sim

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// caller is the token of a request and what its policies say.
type caller struct {
	token mem.SeedToken
	spec  edge.TokenSpec
}

// authenticate finds the token of the credential (reference, "Authentication")
// and sees whether it works here and now. The caller is known even where it does
// not, so that its requests count.
func (s *Server) authenticate(r *http.Request) (caller, error) {
	value, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if value = strings.TrimSpace(value); !ok || value == "" || strings.ContainsAny(value, " \t") {
		return caller{}, failed(http.StatusBadRequest, 6003, "invalid request headers",
			edge.ErrorDetail{Code: 6111, Message: "invalid format for Authorization header"})
	}
	token, spec, ok := s.Platform.TokenByValue(edge.NewSecret(value))
	if !ok {
		return caller{}, failed(http.StatusUnauthorized, edge.CodeInvalidToken, "invalid API token")
	}
	c := caller{token, spec}
	return c, s.works(c, s.config.ClientAddr(r))
}

// works looks at status, window and address. Which error the service has for a
// token outside of its window is not known; it is taken to be the one for a
// token that does not exist.
func (s *Server) works(c caller, from netip.Addr) error {
	if status := c.token.Status; status != "" && status != "active" {
		return failed(http.StatusUnauthorized, edge.CodeInvalidToken, "the API token is "+status)
	}
	if !from.IsValid() && c.spec.Condition != nil {
		return notPermitted("the address of the request is not known")
	}
	a := access.Decide(c.spec, access.Question{IP: from, At: s.clock.Now()})
	switch a.Because {
	case access.NotYet, access.Expired:
		return failed(http.StatusUnauthorized, edge.CodeInvalidToken, a.Text)
	case access.Address:
		return notPermitted(a.Text)
	default: // what it may do is another question
		return nil
	}
}

// permitted sees whether a caller's policies allow a call. A list of zones or
// accounts has what the caller may see, so everyone may ask for it. A token of an
// account is no user, and cannot see the user's tokens.
func (s *Server) permitted(c caller, route route, path string) error {
	if c.token.Account != "" && (path == userPath || strings.HasPrefix(path, userPath+"/")) {
		if route.name == edge.CallVerifyToken { // which knows tokens of users alone
			return failed(http.StatusUnauthorized, edge.CodeInvalidToken, "Invalid API Token")
		}
		return notPermitted("valid user-level authentication not found")
	}
	if route.name == edge.CallZones || route.name == edge.CallAccounts {
		return nil
	}
	endpoint := route.method + " " + route.path
	if said := strings.Replace(endpoint, "{phase}", string(route.phase), 1); s.Platform.Permission(said) != "" {
		endpoint = said // a seed may name the phase
	}
	if a := s.allows(c, endpoint, s.target(route)); !a.Allowed {
		return notPermitted(a.Text)
	}
	return nil
}

// allows decides whether a caller may make a call on a target. A token without
// policies is one that was made outside of the API and may do everything; a call
// of which the seed does not say what it needs is open to every token. The seed
// may name several groups, of which one is enough.
func (s *Server) allows(c caller, endpoint string, target access.Target) (a access.Answer) {
	groups := s.Platform.Permission(endpoint)
	if len(c.spec.Policies) == 0 || groups == "" {
		return access.Answer{Allowed: true}
	}
	for group := range strings.SplitSeq(groups, "|") {
		if a = access.Decide(c.spec, access.Question{Group: group, Target: target}); a.Allowed {
			return a
		}
	}
	return a
}

// target is what a call is about: the zone of its path, else the account, else
// the user.
func (s *Server) target(route route) access.Target {
	switch {
	case route.zone != "":
		zone, _ := s.Platform.SeedZone(route.zone) // unknown: of no account
		return access.OfZone(zone.AccountID, route.zone)
	case route.account != "":
		return access.OfAccount(route.account)
	}
	return access.OfUser(s.Platform.User())
}

func notPermitted(why string) error {
	return failed(http.StatusForbidden, edge.CodeNotPermitted, "not permitted: "+why)
}

// remoteAddr is the address at the other end of the connection. Headers that
// name another are not believed.
func remoteAddr(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}

// spelling is how answers about a token are spelt. Both spellings of a condition's key are
// read, so requests need none. The vendor answers the one that it was sent.
func (s *Server) spelling(of edge.TokenID) wire.Dialect {
	d := s.dialect
	if s.faults.isSet(QuirkRequestIP) || s.config.Profile == mem.Vendor && s.Platform.ConditionKey(of) == wire.ConditionNewer {
		d.ConditionKey = wire.ConditionNewer
	}
	return d
}
