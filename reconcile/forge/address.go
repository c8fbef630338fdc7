package forge

import (
	"errors"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// address is where the API of a forge is, up to the slash that its client's paths
// follow.
func address(kind Kind, text string) (*url.URL, error) {
	if text == "" {
		text = map[Kind]string{GitHub: "https://github.com", GitLab: "https://gitlab.com"}[kind]
	}
	if text == "" {
		return nil, errors.New("the address of the server is missing: Gitea and Forgejo have no default")
	}
	u, err := outbound.Address(text)
	if err != nil {
		return nil, err
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
