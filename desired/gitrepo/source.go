package gitrepo

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Source says where the desired state is kept.
type Source struct {
	// URL is https://…, ssh://…, the scp-like user@host:path, file://… or a local
	// path. Plain http is accepted for loopback addresses. A URL must not hold a
	// credential.
	URL string
	// Ref is a branch or tag by its short or full name ("main",
	// "refs/heads/main", "refs/tags/v1"), or a commit by its 40 hexadecimal
	// digits. A short name is looked for among the branches, then among the tags.
	// Empty is the server's default branch.
	Ref string
	// CA holds the authorities to trust for https, in PEM; empty for the system's.
	CA string
	// Auth is the credential; zero for none.
	Auth Auth
	// Shallow leaves out the history: the first fetch brings one commit. It saves
	// space in long-lived repositories, and costs the means to tell a force push
	// from an ordinary one across the cut ([ErrShallow]).
	Shallow bool
	// Tags brings the annotated tags of the commit too, for [Repo.Verify].
	Tags bool
	// Idle is for how long the server may send nothing while it is waited for.
	// Zero is for as long as it takes.
	Idle time.Duration
	// Timeout bounds the whole of a fetch, or of a list of pull requests. Zero is
	// no bound but the context's.
	Timeout time.Duration
	// AllowHTTP accepts plain http for any host. Whoever is on the way can read
	// the credential and change what is deployed.
	AllowHTTP bool
	// Limits bound what a fetch brings.
	Limits FetchLimits
	// Accept judges the raw bytes of the commit that a ref stands for before anything
	// that it leads to is unpacked: its error, of [Policy.Accept], refuses the commit. Nil
	// accepts all. It stays on this side of a [Wire].
	Accept func(raw []byte) error
}

// Server is how a source is reached: over a TCP port, or, for a local repository with port
// 0, by programs of git. Its errors are those of [ErrSource].
func (s Source) Server() (port uint16, err error) {
	a, err := parseAddress(s)
	if err != nil || a.protocol == "file" {
		return 0, err
	}
	_, text, _ := net.SplitHostPort(a.hostPort()) // made of two
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, badSource("the port is not a number below 65536", "")
	}
	return uint16(n), nil
}

// Auth is a credential of at most one kind: Token, Bearer and Basic for https, SSH for
// ssh.
type Auth struct {
	Token  edge.Secret // an access token, sent as the password of "x-access-token"
	Bearer edge.Secret // a token, sent as "Authorization: Bearer"
	Basic  *Basic
	SSH    *SSH
}

// Basic is a user name and a password or token.
type Basic struct {
	Username string
	Password edge.Secret
}

// SSH is a private key, and the host keys to trust. There is no way around
// known hosts, and neither an agent nor anything in ~/.ssh is ever consulted.
type SSH struct {
	User       string      // used where the URL names none; empty means "git"
	Key        edge.Secret // PEM
	Passphrase edge.Secret // for an encrypted key
	// KnownHosts holds lines in OpenSSH's format, KnownHostsFile the path of a file
	// of them. At least one must be given; with both, either may vouch for a host.
	KnownHosts     string
	KnownHostsFile string
}

// Wire is a [Source] with its secrets in the clear, for one purpose: to be
// encoded as JSON into the pipe of a child process that fetches. It must never
// reach a file, a log or a command line; fmt prints nothing of it.
type Wire struct {
	URL       string `json:"url"`
	Ref       string `json:"ref,omitempty"`
	Shallow   bool   `json:"shallow,omitempty"`
	Tags      bool   `json:"tags,omitempty"`
	AllowHTTP bool   `json:"allow_http,omitempty"`

	Idle    time.Duration `json:"idle,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`

	Limits FetchLimits `json:"limits"`

	CA     string     `json:"ca,omitempty"`
	Token  string     `json:"token,omitempty"`
	Bearer string     `json:"bearer,omitempty"`
	Basic  *WireBasic `json:"basic,omitempty"`
	SSH    *WireSSH   `json:"ssh,omitempty"`
}

// WireBasic is [Basic] in the clear; see [Wire].
type WireBasic struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// WireSSH is [SSH] in the clear; see [Wire].
type WireSSH struct {
	User           string `json:"user,omitempty"`
	Key            string `json:"key"`
	Passphrase     string `json:"passphrase,omitempty"`
	KnownHosts     string `json:"known_hosts,omitempty"`
	KnownHostsFile string `json:"known_hosts_file,omitempty"`
}

// Format prints a placeholder, whatever the verb.
func (Wire) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[git source]") }

// LogValue is a placeholder, since some log handlers encode values as JSON.
func (Wire) LogValue() slog.Value { return slog.StringValue("[git source]") }

// Format prints a placeholder, whatever the verb.
func (WireBasic) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[git credential]") }

// Format prints a placeholder, whatever the verb.
func (WireSSH) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[git credential]") }

// Wire reveals the source's secrets; see [Wire] for the one place they may go.
func (s Source) Wire() Wire {
	w := Wire{
		URL: s.URL, Ref: s.Ref, Shallow: s.Shallow, Tags: s.Tags, AllowHTTP: s.AllowHTTP,
		Idle: s.Idle, Timeout: s.Timeout, Limits: s.Limits, CA: s.CA, Token: s.Auth.Token.Reveal(), Bearer: s.Auth.Bearer.Reveal(),
	}
	if b := s.Auth.Basic; b != nil {
		w.Basic = &WireBasic{Username: b.Username, Password: b.Password.Reveal()}
	}
	if k := s.Auth.SSH; k != nil {
		w.SSH = &WireSSH{
			User: k.User, Key: k.Key.Reveal(), Passphrase: k.Passphrase.Reveal(),
			KnownHosts: k.KnownHosts, KnownHostsFile: k.KnownHostsFile,
		}
	}
	return w
}

// Source wraps the secrets again.
func (w Wire) Source() Source {
	s := Source{URL: w.URL, Ref: w.Ref, Shallow: w.Shallow, Tags: w.Tags, AllowHTTP: w.AllowHTTP, Idle: w.Idle, Timeout: w.Timeout, Limits: w.Limits, CA: w.CA}
	s.Auth.Token, s.Auth.Bearer = edge.NewSecret(w.Token), edge.NewSecret(w.Bearer)
	if b := w.Basic; b != nil {
		s.Auth.Basic = &Basic{Username: b.Username, Password: edge.NewSecret(b.Password)}
	}
	if k := w.SSH; k != nil {
		s.Auth.SSH = &SSH{
			User: k.User, Key: edge.NewSecret(k.Key), Passphrase: edge.NewSecret(k.Passphrase),
			KnownHosts: k.KnownHosts, KnownHostsFile: k.KnownHostsFile,
		}
	}
	return s
}
