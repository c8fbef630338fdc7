package evaluate

import (
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
)

// Each kind of job may reach what it needs, and no more.
func TestConfinement(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	t.Setenv("all_proxy", "socks5://proxy.example")
	t.Setenv("SSL_CERT_FILE", "/etc/own.pem")
	var c confinement
	p := c.tree(tree{Dir: "/work/edge"})
	if !slices.Contains(p.Read, "/work/edge") || len(p.Write)+len(p.Connect) > 0 || p.Programs {
		t.Errorf("evaluating a folder: %+v", p)
	}
	p = c.trailers(readingTrailers{Store: "/state/git", Trust: signature.Trust{SSH: "/etc/signers"}})
	if !slices.Contains(p.Read, "/state/git") || !slices.Contains(p.Read, "/etc/signers") || !slices.Equal(p.Write, []string{"/state/git/seawall.stamp"}) || len(p.Connect) > 0 {
		t.Errorf("reading trailers: %+v", p)
	}
	for url, port := range map[string]uint16{"https://git.example/edge.git": 443, "https://git.example:8443/edge.git": 8443, "git@git.example:edge.git": 22} {
		p = c.fetch("/state/git", gitrepo.Source{URL: url, Auth: gitrepo.Auth{SSH: &gitrepo.SSH{KnownHostsFile: "/etc/hosts.known"}}}, "/etc/keys.asc")
		slices.Sort(p.Connect)
		want := []uint16{53, 1080, 3128, port}
		slices.Sort(want)
		if !slices.Equal(p.Connect, want) || p.Programs || !slices.Equal(p.Write, []string{"/state/git"}) {
			t.Errorf("%s: %+v", url, p)
		}
		for _, file := range []string{"/etc/keys.asc", "/etc/own.pem", "/etc/hosts.known", "/etc/resolv.conf"} {
			if !slices.Contains(p.Read, file) {
				t.Errorf("%s: %s is not among %q", url, file, p.Read)
			}
		}
		if slices.Contains(p.Read, "/") || slices.Contains(p.Read, "/etc") {
			t.Errorf("%s may read %q", url, p.Read)
		}
	}
	if p = c.fetch("/state/git", gitrepo.Source{URL: "/srv/edge.git"}); len(p.Connect) > 0 || !p.Programs {
		t.Errorf("a local repository: %+v", p)
	}
	if p = (confinement{off: true}).tree(tree{Dir: "/"}); p != nil {
		t.Errorf("without a sandbox: %+v", p)
	}
}
