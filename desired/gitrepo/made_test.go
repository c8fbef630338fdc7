package gitrepo_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/eddsa"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/integration/must"
)

// What the signers here make, well-kept ones refuse to: a library does not sign
// with SHA-1, nor ssh-keygen in the wrong namespace under git.

func sshKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	key, err := ssh.NewSignerFromKey(private)
	must.Do(t, err)
	return key
}

func authorized(key ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}

// bySSH follows PROTOCOL.sshsig.
func bySSH(t testing.TB, key ssh.Signer, namespace, algorithm string) signer {
	return func(payload string) string {
		t.Helper()
		var hash []byte
		switch algorithm {
		case "sha1":
			sum := sha1.Sum([]byte(payload))
			hash = sum[:]
		case "sha256":
			sum := sha256.Sum256([]byte(payload))
			hash = sum[:]
		case "sha512":
			sum := sha512.Sum512([]byte(payload))
			hash = sum[:]
		}
		message := append([]byte("SSHSIG"), ssh.Marshal(struct{ Namespace, Reserved, Algorithm, Hash string }{namespace, "", algorithm, string(hash)})...)
		signature, err := key.Sign(rand.Reader, message)
		must.Do(t, err)
		return armoredSSH(append([]byte("SSHSIG"), ssh.Marshal(struct {
			Version                                      uint32
			Key, Namespace, Reserved, Algorithm, Content string
		}{1, string(key.PublicKey().Marshal()), namespace, "", algorithm, string(ssh.Marshal(signature))})...))
	}
}

func armoredSSH(blob []byte) string {
	text := base64.StdEncoding.EncodeToString(blob)
	var out strings.Builder
	out.WriteString("-----BEGIN SSH SIGNATURE-----\n")
	for len(text) > 70 {
		out.WriteString(text[:70] + "\n")
		text = text[70:]
	}
	return out.String() + text + "\n-----END SSH SIGNATURE-----\n"
}

// sha1PGP signs with a hash that is no longer to be relied on.
func sha1PGP(t testing.TB, key *openpgp.Entity) signer {
	return func(payload string) string {
		return rawPGP(t, key, packet.SigTypeBinary, crypto.SHA1, today, payload)
	}
}

// textSignature signs the payload as text, whose line ends do not count.
func textSignature(t testing.TB, key *openpgp.Entity, payload string) string {
	return rawPGP(t, key, packet.SigTypeText, crypto.SHA256, today, strings.ReplaceAll(payload, "\n", "\r\n"))
}

// rawPGP writes the packet of a signature by hand (RFC 9580, 5.2.3).
func rawPGP(t testing.TB, key *openpgp.Entity, kind packet.SignatureType, hash crypto.Hash, when time.Time, payload string) string {
	t.Helper()
	algorithms := map[crypto.Hash]byte{crypto.SHA1: 2, crypto.SHA256: 8}
	body := []byte{4, byte(kind), byte(key.PrimaryKey.PubKeyAlgo), algorithms[hash], 0, 6, 5, 2}
	body = binary.BigEndian.AppendUint32(body, uint32(when.Unix()))
	h := hash.New()
	h.Write([]byte(payload))
	h.Write(body)
	h.Write([]byte{4, 0xff, 0, 0, 0, byte(len(body))})
	digest := h.Sum(nil)
	private, ok := key.PrivateKey.PrivateKey.(*eddsa.PrivateKey)
	if !ok {
		t.Fatalf("a key of type %T", key.PrivateKey.PrivateKey)
	}
	r, s, err := eddsa.Sign(private, digest)
	must.Do(t, err)
	body = binary.BigEndian.AppendUint64(append(body, 0, 10, 9, 16), key.PrimaryKey.KeyId)
	body = append(body, digest[:2]...)
	for _, n := range [][]byte{r, s} {
		number := new(big.Int).SetBytes(n)
		body = append(binary.BigEndian.AppendUint16(body, uint16(number.BitLen())), number.Bytes()...)
	}
	return armored(t, openpgp.SignatureType, append([]byte{0xc2, byte(len(body))}, body...))
}

// twice puts a signature's packet into its armor two times.
func twice(t testing.TB, signature string) string {
	t.Helper()
	block, err := armor.Decode(strings.NewReader(signature))
	must.Do(t, err)
	content, err := io.ReadAll(block.Body)
	must.Do(t, err)
	return armored(t, openpgp.SignatureType, append(content, content...))
}
