package gitrepo_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/edge"
)

func keyPair(t testing.TB) (ssh.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, private
}

type clientKey struct {
	public ssh.PublicKey
	pem    string
}

func newClientKey(t testing.TB) clientKey {
	t.Helper()
	public, private := keyPair(t)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return clientKey{public, string(pem.EncodeToMemory(block))}
}

func knownHosts(addr string, key ssh.PublicKey) string {
	return knownhosts.Line([]string{knownhosts.Normalize(addr)}, key) + "\n"
}

func sshAuth(t testing.TB, key clientKey, hosts string) gitrepo.Auth {
	t.Helper()
	return gitrepo.Auth{SSH: &gitrepo.SSH{Key: edge.NewSecret(key.pem), KnownHosts: hosts}}
}

// ssh serves the repository to one user and key, and returns its address and
// the server's key. More keys of the server may be of other types.
func (u *upstream) ssh(user string, allowed ssh.PublicKey, more ...ssh.Signer) (addr string, host ssh.PublicKey) {
	u.t.Helper()
	host, private := keyPair(u.t)
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		u.t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != user || string(key.Marshal()) != string(allowed.Marshal()) {
			return nil, fmt.Errorf("unknown key")
		}
		return nil, nil
	}}
	for _, s := range append(more, signer) {
		config.AddHostKey(s)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config)
		}
	}()
	return listener.Addr().String(), host
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			if r.Type != "exec" {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			var command struct{ Line string }
			_ = ssh.Unmarshal(r.Payload, &command)
			uploadPack(channel, command.Line)
			break
		}
	}
}

func uploadPack(channel ssh.Channel, line string) {
	defer channel.Close()
	path := strings.Trim(strings.TrimPrefix(line, "git-upload-pack "), "'")
	cmd := exec.Command("git-upload-pack", path)
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe() // with Stdin set, Run would wait for a client that waits for us
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(in, channel)
		in.Close()
	}()
	var status struct{ Status uint32 }
	if cmd.Run() != nil {
		status.Status = 128
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
}

func TestFetchSSH(t *testing.T) {
	u := newUpstream(t)
	want := u.commit("a.cue", "a: 1\n")
	key := newClientKey(t)
	addr, host := u.ssh("git", key.public)
	_, port, _ := net.SplitHostPort(addr)
	hosts := knownHosts(addr, host)
	file := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(file, []byte(hosts), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile := sshAuth(t, key, "")
	fromFile.SSH.KnownHostsFile = file
	for _, source := range []gitrepo.Source{
		{URL: "ssh://git@" + addr + u.dir, Auth: sshAuth(t, key, hosts)},
		{URL: "ssh://" + addr + u.dir, Auth: fromFile},
		{URL: "git@127.0.0.1:" + port + ":" + u.dir, Auth: sshAuth(t, key, hosts)},
	} {
		source.Ref = "main"
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
	if err != nil {
		t.Fatal(err)
	}
	second, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	u := newUpstream(t)
	want := u.commit("a.cue", "a: 1\n")
	key := newClientKey(t)
	addr, first := u.ssh("git", key.public, second)
	for _, host := range []ssh.PublicKey{first, second.PublicKey()} {
		source := gitrepo.Source{URL: "ssh://" + addr + u.dir, Ref: "main", Auth: sshAuth(t, key, knownHosts(addr, host))}
		if got := fetch(t, open(t), source); got != want {
			t.Errorf("known by %s: commit %s, want %s", host.Type(), got, want)
		}
	}
}

func TestFetchSSHWithPassphrase(t *testing.T) {
	u := newUpstream(t)
	want := u.commit("a.cue", "a: 1\n")
	public, private := keyPair(t)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	addr, host := u.ssh("deploy", public)
	auth := sshAuth(t, clientKey{public, string(pem.EncodeToMemory(block))}, knownHosts(addr, host))
	auth.SSH.User, auth.SSH.Passphrase = "deploy", edge.NewSecret("open sesame")
	source := gitrepo.Source{URL: "ssh://" + addr + u.dir, Ref: "main", Auth: auth}
	if got := fetch(t, open(t), source); got != want {
		t.Errorf("commit %s, want %s", got, want)
	}
	auth.SSH.Passphrase = edge.NewSecret("open barley")
	_, err = open(t).Fetch(context.Background(), source)
	wantError(t, err, gitrepo.ErrSource, "key cannot be read")
	wantNoSecret(t, err, "barley")
}

func TestFetchSSHErrors(t *testing.T) {
	u := newUpstream(t)
	u.commit("a.cue", "a: 1\n")
	key := newClientKey(t)
	addr, host := u.ssh("git", key.public)
	other, _ := keyPair(t)
	hosts := knownHosts(addr, host)
	otherType := knownhosts.Normalize(addr) + " ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=\n"
	for _, test := range []struct {
		name string
		url  string
		auth gitrepo.Auth
		kind gitrepo.Kind
		say  string
	}{
		{"unlisted host", u.dir, sshAuth(t, key, knownHosts("git.example:22", host)), gitrepo.ErrHostKey, "do not list"},
		{"another host key", u.dir, sshAuth(t, key, knownHosts(addr, other)), gitrepo.ErrHostKey, "another key"},
		{"another type of host key", u.dir, sshAuth(t, key, otherType), gitrepo.ErrHostKey, "host key"},
		{"revoked host key", u.dir, sshAuth(t, key, "@revoked "+hosts), gitrepo.ErrHostKey, "revoked"},
		{"no known hosts", u.dir, sshAuth(t, key, ""), gitrepo.ErrSource, "needs known hosts"},
		{"garbage known hosts", u.dir, sshAuth(t, key, "what is this\n"), gitrepo.ErrSource, "known hosts"},
		{"unknown key", u.dir, sshAuth(t, newClientKey(t), hosts), gitrepo.ErrAuth, "does not know the key"},
		{"missing repository", u.dir + "x", sshAuth(t, key, hosts), gitrepo.ErrNotFound, "edge.gitx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := gitrepo.Source{URL: "ssh://git@" + addr + test.url, Ref: "main", Auth: test.auth}
			_, err := open(t).Fetch(context.Background(), source)
			wantError(t, err, test.kind, test.say)
			wantNoSecret(t, err, "PRIVATE KEY")
		})
	}
}
