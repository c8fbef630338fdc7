package signature

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
)

// gitNamespace is what git signs for; a signature made for files or mail, with
// the same key, is none of a commit.
const gitNamespace = "git"

// minRSABits is what go-crypto asks of RSA keys too.
const minRSABits = 2047

// sshSignature is the content of an SSH signature (PROTOCOL.sshsig of OpenSSH).
type sshSignature struct {
	Magic         [6]byte
	Version       uint32
	PublicKey     []byte
	Namespace     string
	Reserved      []byte
	HashAlgorithm string
	Signature     []byte
}

// sshMessage is what the key itself signs.
type sshMessage struct {
	Magic         [6]byte
	Namespace     string
	Reserved      []byte
	HashAlgorithm string
	Hash          []byte
}

var sshMagic = [6]byte([]byte("SSHSIG"))

// parseSSHSignature reads an armored signature, and refuses what is not to be
// relied on, before any key is asked.
func parseSSHSignature(armored []byte) (sshSignature, ssh.PublicKey, error) {
	var s sshSignature
	blob, err := dearmorSSH(armored)
	if err != nil {
		return s, nil, err
	}
	if err := ssh.Unmarshal(blob, &s); err != nil {
		return s, nil, broken(err)
	}
	if s.Magic != sshMagic || s.Version != 1 {
		return s, nil, broken(errors.New("it is not of version 1"))
	}
	key, err := ssh.ParsePublicKey(s.PublicKey)
	if err != nil {
		return s, nil, broken(err)
	}
	return s, key, nil
}

func dearmorSSH(armored []byte) ([]byte, error) {
	text, err := oneArmor(armored, SSH)
	if err != nil {
		return nil, err
	}
	// The decoder passes over line ends of both kinds itself.
	blob, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, broken(err)
	}
	return blob, nil
}

// verifySSH checks a signature and looks its key up among the allowed signers.
func (k Keys) verifySSH(o Object, now time.Time) (Signer, error) {
	s, key, err := parseSSHSignature(o.signature)
	if err != nil {
		return Signer{}, err
	}
	if k.ssh == nil {
		return Signer{}, untrusted("name a file of allowed signers as source.verify.ssh", "it is signed with SSH, for which no keys are trusted")
	}
	if s.Namespace != gitNamespace {
		return Signer{}, untrusted(brokenHint, "its signature is for %q, not for git", s.Namespace)
	}
	if err := s.verify(key, o.payload); err != nil {
		return Signer{}, err
	}
	line, err := allowed(k.ssh, key, o.when, now)
	if err != nil {
		return Signer{}, err
	}
	return Signer{Form: SSH, Fingerprint: ssh.FingerprintSHA256(key), Principal: line.principals}, nil
}

// verify checks that the key made the signature of the payload.
func (s sshSignature) verify(key ssh.PublicKey, payload []byte) error {
	by := "SSH key " + ssh.FingerprintSHA256(key)
	if why := weakSSH(key); why != "" {
		return untrusted("sign with a current key, such as Ed25519", "it is signed by %s, which is too weak: %s", by, why)
	}
	var hash []byte
	switch s.HashAlgorithm {
	case "sha256":
		sum := sha256.Sum256(payload)
		hash = sum[:]
	case "sha512":
		sum := sha512.Sum512(payload)
		hash = sum[:]
	default:
		return untrusted(brokenHint, "its signature uses the hash %q, not sha256 or sha512", s.HashAlgorithm)
	}
	var signature ssh.Signature
	if err := ssh.Unmarshal(s.Signature, &signature); err != nil {
		return broken(err)
	}
	if signature.Format == ssh.KeyAlgoRSA {
		return untrusted("sign with a newer ssh-keygen", "it is signed by %s with SHA-1", by)
	}
	message := ssh.Marshal(sshMessage{sshMagic, s.Namespace, s.Reserved, s.HashAlgorithm, hash})
	if err := key.Verify(message, &signature); err != nil {
		return untrusted(brokenHint, "it is not what %s signed: the signature is bad", by)
	}
	return nil
}

// weakSSH says why a key's signatures prove nothing.
func weakSSH(key ssh.PublicKey) string {
	strong := []string{
		ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	}
	if slices.Contains(strong, key.Type()) {
		return ""
	}
	crypto, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return key.Type()
	}
	if k, ok := crypto.CryptoPublicKey().(*rsa.PublicKey); ok {
		if bits := k.N.BitLen(); bits < minRSABits {
			return fmt.Sprintf("RSA with %d bits", bits)
		}
		return ""
	}
	return key.Type()
}

func sameKey(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
