package login

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxy believes what a proxy in front says of people.
type Proxy struct {
	From   []netip.Prefix // the addresses of the proxy
	User   string         // a header
	Groups string         // a header: groups, separated by commas
}

// proxied is what the headers of a proxy say.
type proxied struct {
	fromProxy bool      // the request came from an address of the proxy
	identity  *Identity // nil: it names no one
}

// read takes the headers of the login off a request, and returns what they say if the proxy
// has sent them. Only the address of the connection counts: X-Forwarded-For is what a client
// says. An error is about headers of the proxy that can be read in two ways.
func (p *Proxy) read(r *http.Request) (proxied, error) {
	if p == nil {
		return proxied{}, nil
	}
	users, groups := takeOff(r.Header, p.User), takeOff(r.Header, p.Groups)
	if !p.trusts(r.RemoteAddr) {
		return proxied{}, nil
	}
	found := proxied{fromProxy: true}
	switch {
	case len(users) > 1:
		return found, fmt.Errorf("the request has %d headers %s, or some that servers read as it", len(users), p.User)
	case len(groups) > 1:
		return found, fmt.Errorf("the request has %d headers %s, or some that servers read as it", len(groups), p.Groups)
	case len(users) == 0 || users[0] == "":
		return found, nil
	case strings.Contains(users[0], ","):
		return found, fmt.Errorf("the header %s has a comma: two headers may have been joined", p.User)
	}
	identity := Identity{Way: ByProxy, User: users[0]}
	if len(groups) == 1 {
		for group := range strings.SplitSeq(groups[0], ",") {
			if group = strings.TrimSpace(group); group != "" && !slices.Contains(identity.Groups, group) {
				identity.Groups = append(identity.Groups, group)
			}
		}
	}
	if err := checkIdentity(identity); err != nil {
		return found, fmt.Errorf("the headers of the login cannot be used: %w", err)
	}
	found.identity = &identity
	return found, nil
}

// errRemote: the server does not say where a request came from.
var errRemote = errors.New("a request without the address of its connection")

// trusts reports whether a connection came from the proxy.
func (p *Proxy) trusts(remote string) bool {
	addr, err := peer(remote)
	return err == nil && slices.ContainsFunc(p.From, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// peer is the address at the other end of a connection.
func peer(remote string) (netip.Addr, error) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}, errRemote
	}
	return at.Addr().Unmap().WithZone(""), nil
}

// takeOff removes a header, in every spelling that some server takes for it, and returns the
// values.
func takeOff(header http.Header, name string) (values []string) {
	for key, found := range header {
		if strings.EqualFold(strings.ReplaceAll(key, "_", "-"), name) {
			values = append(values, found...)
			delete(header, key)
		}
	}
	return values
}
