package gitrepo

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// address is a source's URL, checked and taken apart.
type address struct {
	url      string // as go-git wants it
	protocol string // http, https, ssh or file
	host     string
	port     int // zero for the protocol's own
	user     string
	display  string // for people: no user, no query
}

// parseAddress refuses what must not be fetched from. Its errors never quote
// the URL, which may hold the credential it is refused for.
func parseAddress(s Source) (address, error) {
	if s.URL == "" {
		return address{}, badSource("the URL is empty", "")
	}
	ep, err := transport.NewEndpoint(s.URL)
	if err != nil {
		return address{}, badSource("the URL cannot be parsed", "write https://host/path, ssh://host/path, user@host:path or a local path")
	}
	a := address{url: s.URL, protocol: ep.Protocol, host: ep.Host, port: ep.Port, user: ep.User, display: display(ep)}
	switch ep.Protocol {
	case "file":
		a.url = ep.Path // go-git splits a file URL at its first colon otherwise
		return a, a.checkFile(ep)
	case "ssh":
		return a, a.checkRemote(s, ep)
	case "https", "http":
		if a.user != "" {
			return a, badSource("the URL holds a user name", "put the credential into auth; a URL ends up in logs")
		}
		if err := a.checkRemote(s, ep); err != nil {
			return a, err
		}
		return a, a.checkCleartext()
	}
	return a, badSource("the URL's scheme is not supported", "use https, ssh, user@host:path, file or a local path")
}

func (a address) checkFile(ep *transport.Endpoint) error {
	if ep.Host != "" || ep.User != "" {
		return badSource("a file URL names a host", "write file:///path, with three slashes")
	}
	return nil
}

func (a address) checkRemote(s Source, ep *transport.Endpoint) error {
	switch {
	case ep.Password != "" || strings.Contains(ep.User, ":"):
		return badSource("the URL holds a password", "put the credential into auth; a URL ends up in logs")
	case ep.Host == "":
		return badSource("the URL names no host", "")
	case strings.Contains(s.URL, "://") && strings.ContainsAny(s.URL, "?#"):
		return badSource("the URL has a query or a fragment", "a repository's URL ends with its path")
	}
	return nil
}

func (a address) checkCleartext() error {
	if a.protocol == "https" || outbound.Loopback(a.host) {
		return nil
	}
	return badSource("the URL is plain http, which can be read and changed on the network", "use https")
}

// hostPort is the form known_hosts are looked up by.
func (a address) hostPort() string {
	port := a.port
	if port == 0 {
		port = map[string]int{"http": 80, "https": 443}[a.protocol]
	}
	if port == 0 {
		port = 22
	}
	return net.JoinHostPort(strings.Trim(a.host, "[]"), strconv.Itoa(port))
}

// peer is who is spoken with, for errors.
func (a address) peer() string {
	if a.protocol == "file" {
		return a.display
	}
	return a.hostPort()
}

func display(ep *transport.Endpoint) string {
	if ep.Protocol == "file" {
		return ep.Path
	}
	path, _, _ := strings.Cut(ep.Path, "?")
	path, _, _ = strings.Cut(path, "#")
	shown := transport.Endpoint{Protocol: ep.Protocol, Host: ep.Host, Port: ep.Port, Path: path}
	return shown.String()
}

func badSource(reason, hint string) error {
	return &Error{Kind: ErrSource, Doing: "reading the git source", Reason: reason, Hint: hint}
}

func (a address) doing(ref string) string {
	return fmt.Sprintf("fetching %s of %s", ref, a.display)
}
