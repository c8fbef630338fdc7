package gitrepo_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func sshAuth(t testing.TB, key gittest.Key, hosts string) gitrepo.Auth {
	t.Helper()
	return gitrepo.Auth{SSH: &gitrepo.SSH{Key: edge.NewSecret(key.PEM), KnownHostsFile: file(t, hosts)}}
}

func TestFetchSSH(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	key := gittest.NewKey(t)
	addr, host := u.SSH("git", key.Public)
	_, port, _ := net.SplitHostPort(addr)
	hosts := gittest.KnownHosts(addr, host)
	exposed := sshAuth(t, key, "")
	exposed.SSH.KnownHostsFile = withMode(t, filepath.Join(t.TempDir(), "known_hosts"), 0o666, hosts)
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: "ssh://" + addr + u.Dir, Ref: "refs/heads/main", Auth: exposed})
	wantError(t, err, gitrepo.ErrSource, "others may write to", "known_hosts")
	wantHint(t, err, "chmod go-w")
	for _, source := range []gitrepo.Source{
		{URL: "ssh://git@" + addr + u.Dir, Auth: sshAuth(t, key, hosts)},
		{URL: "ssh://" + addr + u.Dir, Auth: sshAuth(t, key, hosts)},
		{URL: "git@127.0.0.1:" + port + ":" + u.Dir, Auth: sshAuth(t, key, hosts)},
	} {
		source.Ref = "refs/heads/main"
		r := open(t)
		for range 2 {
			if got := fetch(t, r, source); got != want {
				t.Errorf("%s: commit %s, want %s", source.URL, got, want)
			}
		}
	}
}

// TestFetchSSHPicksTheKnownKey: a server with keys of several types is known
// by one of them, whichever it prefers to show.
func TestFetchSSHPicksTheKnownKey(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	second, err := ssh.NewSignerFromKey(private)
	must.Do(t, err)
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	key := gittest.NewKey(t)
	addr, first := u.SSH("git", key.Public, second)
	for _, host := range []ssh.PublicKey{first, second.PublicKey()} {
		source := gitrepo.Source{URL: "ssh://" + addr + u.Dir, Ref: "refs/heads/main", Auth: sshAuth(t, key, gittest.KnownHosts(addr, host))}
		if got := fetch(t, open(t), source); got != want {
			t.Errorf("known by %s: commit %s, want %s", host.Type(), got, want)
		}
	}
}

func TestFetchSSHWithPassphrase(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	key := gittest.NewLockedKey(t, "open sesame")
	addr, host := u.SSH("deploy", key.Public)
	auth := sshAuth(t, key, gittest.KnownHosts(addr, host))
	auth.SSH.User, auth.SSH.Passphrase = "deploy", edge.NewSecret("open sesame")
	source := gitrepo.Source{URL: "ssh://" + addr + u.Dir, Ref: "refs/heads/main", Auth: auth}
	if got := fetch(t, open(t), source); got != want {
		t.Errorf("commit %s, want %s", got, want)
	}
	auth.SSH.Passphrase = edge.NewSecret("open barley")
	_, err := open(t).Fetch(context.Background(), source)
	wantError(t, err, gitrepo.ErrSource, "the passphrase does not decrypt the SSH key")
	wantNoSecret(t, err, "barley")
	auth.SSH.Passphrase = edge.Secret{}
	_, err = open(t).Fetch(context.Background(), source)
	wantError(t, err, gitrepo.ErrSource, "the SSH key is encrypted, and no passphrase is set")
}

func TestFetchSSHErrors(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	key := gittest.NewKey(t)
	addr, host := u.SSH("git", key.Public)
	other := gittest.NewKey(t).Public
	hosts := gittest.KnownHosts(addr, host)
	fingerprint := host.Type() + " " + ssh.FingerprintSHA256(host)
	public := sshAuth(t, key, hosts)
	public.SSH.Key = edge.NewSecret(string(ssh.MarshalAuthorizedKey(key.Public)))
	pkcs8 := sshAuth(t, key, hosts)
	pkcs8.SSH.Key = edge.NewSecret("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n")
	unnamed := sshAuth(t, key, hosts)
	unnamed.SSH.KnownHostsFile = ""
	otherType := knownhosts.Normalize(addr) + " ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=\n"
	for _, test := range []struct {
		name string
		url  string
		auth gitrepo.Auth
		kind gitrepo.Kind
		say  string
	}{
		{"unlisted host", u.Dir, sshAuth(t, key, gittest.KnownHosts("git.example:22", host)), gitrepo.ErrHostKey, "known hosts do not list the server; it shows the key " + fingerprint},
		{"another host key", u.Dir, sshAuth(t, key, gittest.KnownHosts(addr, other)), gitrepo.ErrHostKey, "differs from known hosts; it shows the key " + fingerprint},
		{"a public key", u.Dir, public, gitrepo.ErrSource, "the SSH key is a public key"},
		{"an encrypted key of OpenSSL", u.Dir, pkcs8, gitrepo.ErrSource, "encrypted in the format PKCS #8"},
		{"another type of host key", u.Dir, sshAuth(t, key, otherType), gitrepo.ErrHostKey, "host key"},
		{"revoked host key", u.Dir, sshAuth(t, key, "@revoked "+hosts), gitrepo.ErrHostKey, "revoked"},
		{"no known hosts", u.Dir, unnamed, gitrepo.ErrSource, "needs known hosts"},
		{"garbage known hosts", u.Dir, sshAuth(t, key, "what is this\n"), gitrepo.ErrSource, "known hosts"},
		{"unknown key", u.Dir, sshAuth(t, gittest.NewKey(t), hosts), gitrepo.ErrAuth, "does not know the key"},
		{"missing repository", u.Dir + "x", sshAuth(t, key, hosts), gitrepo.ErrNotFound, "edge.gitx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := gitrepo.Source{URL: "ssh://git@" + addr + test.url, Ref: "refs/heads/main", Auth: test.auth}
			_, err := open(t).Fetch(context.Background(), source)
			wantError(t, err, test.kind, test.say)
			wantNoSecret(t, err, "PRIVATE KEY")
		})
	}
}
