package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/outbound"
)

// Postgres is the PostgreSQL database that several daemons share.
type Postgres struct {
	URL      string     `cue:"url"`      // postgres://, without a password
	Password *SecretRef `cue:"password"` // nil: the server needs none
	CAFile   string     `cue:"ca_file"`  // absolute; empty for the system's authorities
	TLS      string     `cue:"tls"`      // verify or none
	Replica  string     `cue:"replica"`  // empty for the name of the host
}

// postgresURL is such an address in its parts. It is none of net/url: it may have several hosts.
type postgresURL struct {
	user     string
	password bool     // it has one
	hosts    []string // names, addresses, and paths of sockets
	places   []string // the same, in lower case, with their ports where these are not the usual one
	database string
	query    url.Values
}

// parsePostgres takes an address apart as libpq does.
func parsePostgres(address string) (u postgresURL, ok bool) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme != "postgres" && scheme != "postgresql" {
		return u, false
	}
	rest, query, _ := strings.Cut(rest, "?")
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		u.user, _, u.password = strings.Cut(rest[:i], ":")
		rest = rest[i+1:]
	}
	hosts, database, _ := strings.Cut(rest, "/")
	u.database = database
	var err error
	if u.query, err = url.ParseQuery(query); err != nil {
		return u, false
	}
	for _, list := range append([]string{hosts}, u.query["host"]...) {
		for host := range strings.SplitSeq(list, ",") {
			if host, err = url.PathUnescape(host); err != nil {
				return u, false
			}
			if host != "" {
				u.hosts = append(u.hosts, hostOf(host))
				u.places = append(u.places, placeOf(hostOf(host), cmp.Or(portOf(host), u.query.Get("port"))))
			}
		}
	}
	u.password = u.password || u.query.Has("password") || u.query.Has("sslpassword")
	return u, true
}

// hostOf is a host without its port.
func hostOf(host string) string {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return host
	}
	if inside, _, ok := strings.Cut(strings.TrimPrefix(host, "["), "]"); ok {
		return inside
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// portOf is the port of a host; empty where it says none.
func portOf(host string) string {
	if strings.HasPrefix(host, "/") {
		return ""
	}
	_, port, _ := strings.Cut(host[strings.LastIndex(host, "]")+1:], ":")
	return port
}

// placeOf is where a server is; names of hosts have no case, paths of sockets do.
func placeOf(host, port string) string {
	if !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, "@") {
		host = strings.ToLower(host)
	}
	switch {
	case port == "" || port == "5432":
		return host
	case strings.Contains(host, ":"):
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}

// near reports whether every host is this machine.
func (u postgresURL) near() bool {
	return !slices.ContainsFunc(u.hosts, func(host string) bool {
		return !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, "@") && !outbound.Loopback(host)
	})
}

// checkPostgres: an address says many things, and what it says of encryption must be enough. No
// message repeats the address, which may hold a password.
func (c *configReader) checkPostgres(p *Postgres) {
	if p == nil {
		return
	}
	const at = "state.postgres.url"
	u, ok := parsePostgres(p.URL)
	switch {
	case !ok:
		c.problem(at, "is not an address of PostgreSQL", "write postgres://USER@HOST/DATABASE")
		return
	case u.password:
		c.problem(at, "the configuration must not contain a secret", `take the password out of the address, give its source in state.postgres.password: {file: "/…"}, {env: "NAME"} or {systemd: "name"}, and change the password that was written here`)
		return
	case u.query.Has("service") || u.query.Has("servicefile"):
		c.problem(at, "names a service file, which can name another server", "write the host and the database into the address")
		return
	case len(u.hosts) == 0:
		c.problem(at, "names no host", "write postgres://USER@HOST/DATABASE, or for a socket on this machine postgres://USER@/DATABASE?host=/var/run/postgresql")
		return
	case u.user == "" && !u.query.Has("user"):
		c.problem(at, "names no user", "write postgres://USER@HOST/DATABASE")
	case u.database == "" && !u.query.Has("dbname") && !u.query.Has("database"):
		c.problem(at, "names no database", "write postgres://USER@HOST/DATABASE")
	}
	c.checkPostgresTLS(p, u)
}

// checkPostgresTLS: without a check of the certificate anyone on the way reads the ledger and
// changes it.
func (c *configReader) checkPostgresTLS(p *Postgres, u postgresURL) {
	const hint = `use sslmode=verify-full, which is the default, with ca_file for an authority of your own; on a network that you trust, set state.postgres.tls: "none"`
	if u.query.Has("ssl") {
		c.problem("state.postgres.url", "sets ssl", "use sslmode")
		return
	}
	if p.CAFile != "" && u.query.Has("sslrootcert") {
		c.problem("state.postgres.ca_file", "stands beside sslrootcert in url", "keep one of them")
	}
	if p.TLS == tlsNone || u.near() {
		return
	}
	for _, mode := range u.query["sslmode"] {
		if mode != verifyFull {
			c.problem("state.postgres.url", fmt.Sprintf("sslmode=%s does not check which server of another machine answers", mode), hint)
		}
	}
}

// The values of tls, and of sslmode, that have a meaning here.
const (
	tlsNone    = "none"
	verifyFull = "verify-full"
)

// Address is the complete address: with sslmode, and with the authorities to trust.
func (p Postgres) Address() string {
	u, ok := parsePostgres(p.URL)
	if !ok {
		return p.URL
	}
	more := url.Values{}
	switch near := u.near(); {
	case u.query.Has("sslmode"):
	case p.TLS == tlsNone:
		more.Set("sslmode", "disable")
	case !near, p.CAFile != "":
		more.Set("sslmode", verifyFull)
	}
	if p.CAFile != "" {
		more.Set("sslrootcert", p.CAFile)
	}
	if len(more) == 0 {
		return p.URL
	}
	joint := "?"
	if strings.Contains(p.URL, "?") {
		joint = "&"
	}
	return p.URL + joint + more.Encode()
}

// Place is where the database is, for people: its hosts and its name.
func (p Postgres) Place() string {
	u, _ := parsePostgres(p.URL)
	name, _, _ := strings.Cut(u.database, "?")
	for _, key := range []string{"dbname", "database"} {
		if given := u.query.Get(key); given != "" {
			name = given
		}
	}
	return "postgres://" + strings.Join(u.places, ",") + "/" + name
}

// SameAs reports whether two addresses are those of one database. There are more ways to write one: only
// the database itself says which it is.
func (p Postgres) SameAs(other Postgres) bool { return p.Place() == other.Place() }

// ParsePostgres reads an address from a command line, by the rules of the configuration.
func ParsePostgres(address string) (p Postgres, problem desired.Problem, ok bool) {
	c := configReader{}
	p = Postgres{URL: address, TLS: "verify"}
	c.checkPostgres(&p)
	if len(c.problems) > 0 {
		return Postgres{}, c.problems[0], false
	}
	return p, desired.Problem{}, true
}
