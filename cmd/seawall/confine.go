package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// confinement says what workers may reach. The zero value restricts them as far as this
// machine can.
type confinement struct{ off bool }

func newConfinement(w schema.Workers) confinement { return confinement{off: w.Sandbox == sandboxOff} }

// The values of workers.sandbox.
const (
	sandboxRequired = "required"
	sandboxOff      = "off"
)

// checkSandbox returns an error where a sandbox is required that this machine does not
// have.
func checkSandbox(w schema.Workers, here sandbox.Support) error {
	missing := here.Missing()
	if w.Sandbox != sandboxRequired || len(missing) == 0 {
		return nil
	}
	return fail(fmt.Errorf("workers.sandbox is required, and this machine lacks %s", strings.Join(missing, " and ")), sandboxHint, "or set workers.sandbox to \"auto\"")
}

// sandbox is a check of the doctor.
func (d *diagnosis) sandbox(_ context.Context, f *findings) {
	const name = "sandbox"
	here := sandbox.Here()
	missing := strings.Join(here.Missing(), " and ")
	switch {
	case d.Workers.Sandbox == sandboxOff:
		f.warn(name, "workers run without one: workers.sandbox is off", "set it to \"auto\"")
	case missing == "":
		f.ok(name, "%s", here)
	case d.Workers.Sandbox == sandboxRequired:
		f.fail(name, checkSandbox(d.Workers, here))
	default:
		f.warn(name, fmt.Sprintf("incomplete: this machine lacks %s; it has %s", missing, here), sandboxHint)
	}
}

const sandboxHint = "use a newer kernel, or a container runtime that allows it"

// logSandbox says, once at start, what a sandbox of workers lacks.
func logSandbox(w schema.Workers, here sandbox.Support, log *slog.Logger) {
	switch missing := here.Missing(); {
	case w.Sandbox == sandboxOff:
		log.Warn("workers run without a sandbox", "setting", "workers.sandbox")
	case len(missing) > 0:
		log.Warn("the sandbox of workers is incomplete", "missing", strings.Join(missing, ", "), "have", here.String(), "hint", sandboxHint)
	}
}

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
