package forge

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// address is where the API of a forge is, up to the slash that its client's paths
// follow.
func address(kind Kind, text string) (*url.URL, error) {
	if text == "" {
		text = map[Kind]string{GitHub: "https://github.com", GitLab: "https://gitlab.com"}[kind]
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("the address of the server is missing: Gitea and Forgejo have no default")
	case err != nil || u.Host == "":
		return nil, errors.New("the address is not a URL") // the error of url.Parse repeats a password in it
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address must have neither user, query nor fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return nil, fmt.Errorf("the address %s must be https, or http to this machine", u)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	switch kind {
	case GitHub:
		githubAddress(u)
	case GitLab:
		u.Path = strings.TrimSuffix(u.Path, "/api/v4") + "/"
	case Gitea:
		u.Path = strings.TrimSuffix(u.Path, "/api/v1")
	default: // newDriver refuses it
	}
	return u, nil
}

// githubAddress: github.com and its tenants have a host for the API, a server of
// one's own has a path.
func githubAddress(u *url.URL) {
	switch host := strings.ToLower(u.Host); {
	case host == "github.com" || host == "www.github.com":
		u.Host, u.Path = "api.github.com", "/"
	case strings.HasSuffix(host, ".ghe.com") && !strings.HasPrefix(host, "api."):
		u.Host, u.Path = "api."+host, "/"
	case strings.HasPrefix(host, "api."):
		u.Path += "/"
	default:
		u.Path = strings.TrimSuffix(u.Path, "/api/v3") + "/api/v3/"
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
