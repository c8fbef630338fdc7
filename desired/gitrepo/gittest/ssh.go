package gittest

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Key is a key pair of a client.
type Key struct {
	Public ssh.PublicKey
	PEM    string // the private half
}

// NewKey makes a key pair.
func NewKey(t testing.TB) Key {
	t.Helper()
	return newKey(t, ssh.MarshalPrivateKey)
}

// NewLockedKey makes a key pair whose private half needs a passphrase.
func NewLockedKey(t testing.TB, passphrase string) Key {
	t.Helper()
	return newKey(t, func(private crypto.PrivateKey, comment string) (*pem.Block, error) {
		return ssh.MarshalPrivateKeyWithPassphrase(private, comment, []byte(passphrase))
	})
}

func newKey(t testing.TB, marshal func(crypto.PrivateKey, string) (*pem.Block, error)) Key {
	t.Helper()
	public, private := keyPair(t)
	block, err := marshal(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return Key{public, string(pem.EncodeToMemory(block))}
}

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

// KnownHosts is the line of known hosts for a server.
func KnownHosts(address string, key ssh.PublicKey) string {
	return knownhosts.Line([]string{knownhosts.Normalize(address)}, key) + "\n"
}

// SSH serves the repository to one user and key, and returns its address and
// the server's key. More keys of the server may be of other types.
func (r *Repository) SSH(user string, allowed ssh.PublicKey, more ...ssh.Signer) (address string, host ssh.PublicKey) {
	r.t.Helper()
	host, private := keyPair(r.t)
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		r.t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != user || string(key.Marshal()) != string(allowed.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	for _, s := range append(more, signer) {
		config.AddHostKey(s)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { listener.Close() })
	go serve(listener, config)
	return listener.Addr().String(), host
}

func serve(listener net.Listener, config *ssh.ServerConfig) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serveConn(conn, config)
	}
}

func serveConn(conn net.Conn, config *ssh.ServerConfig) {
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
			runGit(channel, command.Line)
			break
		}
	}
}

// runGit runs what a client of git asks for: git-upload-pack, or git-receive-pack for a push.
func runGit(channel ssh.Channel, line string) {
	defer channel.Close()
	program, path, _ := strings.Cut(line, " ")
	if program != "git-receive-pack" {
		program = "git-upload-pack"
	}
	cmd := exec.Command(program, strings.Trim(path, "'"))
	cmd.Env = append(cmd.Environ(), Env...)
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
