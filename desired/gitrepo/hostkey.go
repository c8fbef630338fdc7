package gitrepo

import (
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// hostKeyError is a host key that is not accepted, with its fingerprint: known hosts
// say only what they expected.
type hostKeyError struct {
	algorithm   string
	fingerprint string // SHA256:…, as ssh-keygen -l prints it
	err         error
}

func (e *hostKeyError) Error() string { return e.err.Error() }
func (e *hostKeyError) Unwrap() error { return e.err }

// named adds the key that the server showed to the errors of a check.
func named(check ssh.HostKeyCallback) ssh.HostKeyCallback {
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		if err := check(host, remote, key); err != nil {
			return &hostKeyError{key.Type(), ssh.FingerprintSHA256(key), err}
		}
		return nil
	}
}

// shownKey is the key that a server showed, as the end of a sentence; empty where the error
// has none.
func shownKey(err error) string {
	var key *hostKeyError
	if !errors.As(err, &key) {
		return ""
	}
	return "; it shows the key " + key.algorithm + " " + key.fingerprint
}

// publicKey matches the beginnings of files that people take for a private key.
var publicKey = lazyregexp.New(`^(ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-|---- BEGIN SSH2 PUBLIC KEY|-----BEGIN [A-Z ]*PUBLIC KEY)`)

// explainKey says why a private key cannot be used. The parser's own words may quote the
// key's content.
func (s *SSH) explainKey(err error) error {
	var locked *ssh.PassphraseMissingError
	_, plain := ssh.ParseRawPrivateKey([]byte(s.Key.Reveal()))
	encrypted := errors.As(plain, &locked)
	switch {
	case publicKey().MatchString(s.Key.Reveal()):
		return badSource("the SSH key is a public key", "name the private key: the file without .pub")
	case encrypted && s.Passphrase.IsZero():
		return badSource("the SSH key is encrypted, and no passphrase is set", "set source.auth.ssh.passphrase, or use a key without a passphrase")
	case errors.Is(err, x509.IncorrectPasswordError):
		return badSource("the passphrase does not decrypt the SSH key", "check source.auth.ssh.passphrase: ssh-keygen -y -f FILE asks for it and prints the public key if it is right")
	}
	if strings.Contains(s.Key.Reveal(), "-----BEGIN ENCRYPTED PRIVATE KEY-----") { // PKCS #8, which the library reads only without a passphrase
		return badSource("the SSH key is encrypted in the format PKCS #8, which Seawall does not read", "convert it: ssh-keygen -p -f FILE asks for the passphrase and writes the format of OpenSSH")
	}
	return badSource("the SSH key cannot be read", "it must be a private key in the format of OpenSSH or PEM, as ssh-keygen writes it")
}

// authorities are those of a file in PEM; nil for the system's.
func authorities(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, badSource("the file of authorities has no certificate", "set source.ca_file to a file with certificates in PEM")
	}
	return pool, nil
}
