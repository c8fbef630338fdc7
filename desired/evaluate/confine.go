package evaluate

import (
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// Workers says how the processes run that fetch and evaluate. The zero value restricts
// them as far as this machine can.
type Workers struct {
	NoSandbox bool
	Memory    int64 // bytes that all of them may take together; zero is what the machine allows
}

// confinement says what workers may reach.
type confinement struct{ off bool }

// timeZones are read by whatever works with local times.
var timeZones = []string{"/etc/localtime", "/usr/share/zoneinfo"}

// tree is for jobs that read a tree of desired state: its files, and nothing else.
func (c confinement) tree(t tree) *sandbox.Policy {
	if c.off {
		return nil
	}
	if t.Store == "" {
		return &sandbox.Policy{Read: append([]string{t.Dir}, timeZones...)}
	}
	return &sandbox.Policy{Read: append([]string{t.Store}, timeZones...), Write: []string{gitrepo.Suspects(t.Store)}}
}

// trailers is for jobs that read a commit and who has signed it.
func (c confinement) trailers(r readingTrailers) *sandbox.Policy {
	p := c.tree(tree{Store: r.Store})
	if p != nil {
		p.Read = append(p.Read, r.Trust.OpenPGP, r.Trust.SSH)
	}
	return p
}

// Files that a fetch needs: to find the server, and to know its certificate.
var networkFiles = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/run/systemd/resolve", "/run/resolvconf", "/run/nscd",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
	"/usr/share/pki", "/usr/local/share/certs", "/system/etc/security/cacerts", "/var/lib/ca-certificates",
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", // of the C library, where names are looked up by it
}

// fetch is for jobs that fetch into a store: they may write there, and connect to the
// server's port, and to those of the proxies that are configured. A local repository is
// read by programs of git, which have the files of the machine to read and no network.
func (c confinement) fetch(store string, s gitrepo.Source, trust ...string) *sandbox.Policy {
	if c.off {
		return nil
	}
	p := &sandbox.Policy{Write: []string{store}}
	port, err := s.Server()
	if err != nil || port == 0 { // the worker says what is wrong with a source
		p.Read, p.Programs = []string{"/"}, true
		return p
	}
	p.Read = append(append(p.Read, networkFiles...), timeZones...)
	p.Read = append(p.Read, os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR"))
	p.Read = append(p.Read, trust...)
	if s.Auth.SSH != nil {
		p.Read = append(p.Read, s.Auth.SSH.KnownHostsFile)
	}
	const dns = 53 // a long answer comes over TCP
	p.Connect = append(proxyPorts(), port, dns)
	return p
}

// push is for jobs that push from a store. They may do what a fetch may; programs of git
// write to a local repository.
func (c confinement) push(store string, s gitrepo.Source) *sandbox.Policy {
	p := c.fetch(store, s)
	if p != nil && p.Programs {
		p.Write = append(p.Write, strings.TrimPrefix(s.URL, "file://"))
	}
	return p
}

// proxyPorts are those of the proxies that the environment names.
func proxyPorts() (ports []uint16) {
	standard := map[string]uint16{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		at, err := url.Parse(value)
		if err != nil || at.Host == "" { // host:port, without a scheme
			if at, err = url.Parse("http://" + value); err != nil {
				continue
			}
		}
		if n, err := strconv.ParseUint(at.Port(), 10, 16); err == nil {
			ports = append(ports, uint16(n))
		} else if port, ok := standard[at.Scheme]; ok {
			ports = append(ports, port)
		}
	}
	return ports
}
