package gitrepo

import (
	"cmp"
	"errors"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/desired/trusted"
)

// tokenUser is the user name under which the common forges take a token as
// the password.
const tokenUser = "x-access-token"

// dialTimeout bounds reaching an SSH host. The handshake after it heeds no
// deadline; see [Repo.Fetch].
const dialTimeout = 30 * time.Second

func init() { //nolint:gochecknoinits // the setting is a variable of the library, before any connection
	// Left alone, go-git lets ~/.ssh/config send a host name elsewhere.
	gitssh.DefaultSSHConfig = nil
}

// method makes go-git's form of the credential. It never returns a nil method
// for ssh: go-git would then ask an agent.
func (s Source) method(a address) (transport.AuthMethod, error) {
	if err := s.Auth.check(a.protocol); err != nil {
		return nil, err
	}
	switch {
	case s.Auth.SSH != nil:
		return s.Auth.SSH.method(a)
	case s.Auth.Basic != nil:
		return &githttp.BasicAuth{Username: s.Auth.Basic.Username, Password: s.Auth.Basic.Password.Reveal()}, nil
	case !s.Auth.Bearer.IsZero():
		return &githttp.TokenAuth{Token: s.Auth.Bearer.Reveal()}, nil
	case !s.Auth.Token.IsZero():
		return &githttp.BasicAuth{Username: tokenUser, Password: s.Auth.Token.Reveal()}, nil
	}
	return nil, nil
}

func (a Auth) check(protocol string) error {
	kinds := 0
	for _, has := range []bool{a.Basic != nil, !a.Token.IsZero(), !a.Bearer.IsZero(), a.SSH != nil} {
		if has {
			kinds++
		}
	}
	shell := a.SSH != nil
	web := kinds > 0 && !shell
	switch {
	case kinds > 1:
		return badSource("auth has more than one kind of credential", "keep one")
	case protocol == "ssh" && !shell:
		return badSource("an ssh source needs a key", "set auth to a private key and known hosts")
	case protocol != "ssh" && shell:
		return badSource("an SSH key can be used only with an ssh URL", "use an ssh URL or a token")
	case protocol == "file" && web:
		return badSource("a local path needs no credential", "remove auth")
	}
	return nil
}

// keys is an SSH key that knows which hosts to trust.
type keys struct{ *gitssh.PublicKeys }

func (k keys) ClientConfig() (*ssh.ClientConfig, error) {
	config, err := k.PublicKeys.ClientConfig()
	if err == nil {
		config.Timeout = dialTimeout
	}
	return config, err
}

func (s *SSH) method(a address) (transport.AuthMethod, error) {
	key, err := gitssh.NewPublicKeys(cmp.Or(a.user, s.User, gitssh.DefaultUsername), []byte(s.Key.Reveal()), s.Passphrase.Reveal())
	if err != nil {
		return nil, s.explainKey(err)
	}
	hosts, err := s.hosts()
	if err != nil {
		return nil, err
	}
	// Without the algorithms the server may answer with a key of a type that
	// known hosts does not list, which looks like an attack.
	key.HostKeyCallback = named(hosts.HostKeyCallback())
	key.HostKeyAlgorithms = hosts.HostKeyAlgorithms(a.hostPort())
	return keys{key}, nil
}

func (s *SSH) hosts() (*knownhosts.HostKeyDB, error) {
	if s.KnownHostsFile == "" {
		return nil, badSource("an ssh source needs known hosts", "add the server's line as ssh-keyscan prints it, after comparing its fingerprint")
	}
	if _, err := trusted.Read(s.KnownHostsFile, maxKnownHosts); err != nil {
		return nil, badSource("known hosts cannot be read: "+err.Error(), adviceOf(err, "source.auth.ssh.known_hosts names the file"))
	}
	hosts, err := knownhosts.NewDB(s.KnownHostsFile)
	if err != nil {
		return nil, badSource("known hosts cannot be read: "+err.Error(), "use the format of OpenSSH's known_hosts")
	}
	return hosts, nil
}

// maxKnownHosts bounds a file of known hosts, in bytes.
const maxKnownHosts = 16 << 20

// adviceOf is what an error says to try; otherwise where it says nothing.
func adviceOf(err error, otherwise string) string {
	if advised := (interface{ Advice() string })(nil); errors.As(err, &advised) {
		return advised.Advice()
	}
	return otherwise
}
