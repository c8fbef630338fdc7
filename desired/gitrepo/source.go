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
	// Ref is a branch or tag by its full name: refs/heads/main, refs/tags/v1.
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
	// Limits bound what a fetch brings.
	Limits FetchLimits
	// Accept judges the raw bytes of the commit that a ref stands for before anything
	// that it leads to is unpacked: its error, of [Policy.Accept], refuses the commit. Nil
	// accepts all. It stays on this side of a [Wire].
	Accept func(raw []byte) error `json:"-"`
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
	Token  edge.Secret `json:"-"` // an access token, sent as the password of "x-access-token"
	Bearer edge.Secret `json:"-"` // a token, sent as "Authorization: Bearer"
	Basic  *Basic
	SSH    *SSH
}

// Basic is a user name and a password or token.
type Basic struct {
	Username string
	Password edge.Secret `json:"-"`
}

// SSH is a private key, and a file of the host keys to trust, in OpenSSH's format. There is
// no way around known hosts, and neither an agent nor anything in ~/.ssh is ever consulted.
type SSH struct {
	User           string      // used where the URL names none; empty means "git"
	Key            edge.Secret `json:"-"` // PEM
	Passphrase     edge.Secret `json:"-"` // for an encrypted key
	KnownHostsFile string
}

// Wire is a [Source] with its secrets in the clear, for one purpose: to be
// encoded as JSON into the pipe of a child process that fetches. It must never
// reach a file, a log or a command line; fmt prints nothing of it.
type Wire struct {
	Plain   Source   `json:"plain"`             // its secrets and Accept are not encoded
	Secrets []string `json:"secrets,omitempty"` // in the order of [Auth.secrets]
}

// Format prints a placeholder, whatever the verb.
func (Wire) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[git source]") }

// LogValue is a placeholder, since some log handlers encode values as JSON.
func (Wire) LogValue() slog.Value { return slog.StringValue("[git source]") }

// Wire reveals the source's secrets; see [Wire] for the one place they may go.
func (s Source) Wire() Wire {
	w := Wire{Plain: s}
	for _, secret := range s.Auth.secrets() {
		w.Secrets = append(w.Secrets, secret.Reveal())
	}
	return w
}

// Source wraps the secrets again, after they came through the pipe.
func (w Wire) Source() Source {
	for i, secret := range w.Plain.Auth.secrets() {
		*secret = edge.NewSecret(w.Secrets[i])
	}
	return w.Plain
}

// secrets are all that a credential holds.
func (a *Auth) secrets() []*edge.Secret {
	all := []*edge.Secret{&a.Token, &a.Bearer}
	if a.Basic != nil {
		all = append(all, &a.Basic.Password)
	}
	if a.SSH != nil {
		all = append(all, &a.SSH.Key, &a.SSH.Passphrase)
	}
	return all
}
