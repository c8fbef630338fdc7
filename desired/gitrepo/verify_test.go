package gitrepo_test

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/integration/must"
)

// today is when the tests of this file take place.
var today = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// pgpKey makes a key that began a year before today.
func pgpKey(t testing.TB, name string, change ...func(*packet.Config)) *openpgp.Entity {
	t.Helper()
	config := &packet.Config{Time: at(today.AddDate(-1, 0, 0)), Algorithm: packet.PubKeyAlgoEdDSA}
	for _, c := range change {
		c(config)
	}
	key, err := openpgp.NewEntity(name, "", name+"@example.com", config)
	must.Do(t, err)
	return key
}

func at(when time.Time) func() time.Time { return func() time.Time { return when } }

func armored(t testing.TB, kind string, content []byte) string {
	t.Helper()
	var out bytes.Buffer
	w, err := armor.Encode(&out, kind, nil)
	if err == nil {
		_, err = w.Write(content)
		err = errors.Join(err, w.Close())
	}
	must.Do(t, err)
	return out.String() + "\n"
}

func public(t testing.TB, keys ...*openpgp.Entity) string {
	t.Helper()
	var all strings.Builder
	for _, key := range keys {
		var out bytes.Buffer
		must.Do(t, key.Serialize(&out))
		all.WriteString("A comment\n\n" + armored(t, openpgp.PublicKeyType, out.Bytes()))
	}
	return all.String()
}

// signer makes an armored signature.
type signer func(payload string) string

func byPGP(t testing.TB, key *openpgp.Entity, change ...func(*packet.Config)) signer {
	return func(payload string) string {
		t.Helper()
		config := &packet.Config{Time: at(today.Add(-time.Hour)), DefaultHash: crypto.SHA256}
		for _, c := range change {
			c(config)
		}
		var out bytes.Buffer
		must.Do(t, openpgp.DetachSign(&out, []*openpgp.Entity{key}, strings.NewReader(payload), config))
		return armored(t, openpgp.SignatureType, out.Bytes())
	}
}

// payload is a commit as it is signed.
func payload(u *gittest.Repository, message string) string {
	tree := u.Tree()
	who := fmt.Sprintf("Ada <ada@example.com> %d +0000", today.Add(-time.Hour).Unix())
	return "tree " + tree + "\nparent " + u.Head() + "\nauthor " + who + "\ncommitter " + who + "\n\n" + message
}

// withSignature puts a signature into a commit, as git does.
func withSignature(payload, signature string) string {
	header, message, _ := strings.Cut(payload, "\n\n")
	lines := strings.Split(strings.TrimSuffix(signature, "\n"), "\n")
	return header + "\ngpgsig " + strings.Join(lines, "\n ") + "\n\n" + message
}

func file(t testing.TB, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	must.Do(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// brought is a store with commits, whatever they are, and their names.
func brought(t testing.TB, u *gittest.Repository, commits ...string) (*gitrepo.Repo, []string) {
	t.Helper()
	var names []string
	for _, commit := range commits {
		names = append(names, u.Object("commit", commit))
	}
	return gitrepo.Reader(filepath.Join(u.Dir, ".git")), names
}

func TestVerifyCommits(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	ada, eve := pgpKey(t, "ada"), pgpKey(t, "eve")
	adaSSH, eveSSH, bobSSH, annSSH := sshKey(t), sshKey(t), sshKey(t), sshKey(t)
	trust := signature.Trust{
		OpenPGP: file(t, public(t, pgpKey(t, "bob"), ada)),
		SSH: file(t, "# people\n\nada@example.com "+authorized(adaSSH)+" of Ada\n"+
			`bob valid-after="202606011130Z",valid-before="20260701Z" `+authorized(bobSSH)+"\n"+
			`ann valid-after="20250601Z",valid-before="202606011130Z" `+authorized(annSSH)+"\n"),
	}
	plain := payload(u, "Change\n")
	good := byPGP(t, ada)
	goodSSH := bySSH(t, adaSSH, "git", "sha512")
	other := strings.Replace(plain, "Change", "Another", 1)
	tests := []struct {
		name   string
		commit string
		kind   gitrepo.Kind // empty for accepted
		say    string
	}{
		{"openpgp", withSignature(plain, good(plain)), "", ""},
		{"ssh", withSignature(plain, goodSSH(plain)), "", ""},
		{"ssh, sha256", withSignature(plain, bySSH(t, adaSSH, "git", "sha256")(plain)), "", ""},
		{"armor with CRLF", withSignature(plain, strings.ReplaceAll(goodSSH(plain), "\n", "\r\n")), "", ""},
		{"message with CRLF", signed(payload(u, "Change\r\n\r\nMore\r\n"), good), "", ""},
		{"no line end", signed(payload(u, "Change"), good), "", ""},
		{"empty message", signed(payload(u, ""), goodSSH), "", ""},
		{"other encoding", signed(strings.Replace(payload(u, "\xc4nderung\n"), "\n\n", "\nencoding ISO-8859-1\n\n", 1), good), "", ""},
		{"mergetag", signed(strings.Replace(plain, "\n\n", "\nmergetag object "+u.Head()+"\n type commit\n tag v1\n  \n -----BEGIN PGP SIGNATURE-----\n x\n\n", 1), good), "", ""},
		{"unknown header", signed(strings.Replace(plain, "\n\n", "\nHG:extra a  b\t \n\n", 1), goodSSH), "", ""},

		{"unsigned", plain, gitrepo.ErrUnsigned, "verifying commit "},
		{"signature in the message", plain + "\ngpgsig " + strings.ReplaceAll(good(plain), "\n", "\n "), gitrepo.ErrUnsigned, ""},
		{"unknown openpgp key", signed(plain, byPGP(t, eve)), gitrepo.ErrUntrusted, fmt.Sprintf("%X, which is not trusted", eve.PrimaryKey.Fingerprint)},
		{"unknown ssh key", signed(plain, bySSH(t, eveSSH, "git", "sha512")), gitrepo.ErrUntrusted, ssh.FingerprintSHA256(eveSSH.PublicKey()) + ", which is not trusted"},
		{"signature of another commit", withSignature(plain, good(other)), gitrepo.ErrUntrusted, "the signature is bad"},
		{"ssh signature of another commit", withSignature(plain, goodSSH(other)), gitrepo.ErrUntrusted, "the signature is bad"},
		{"tampered message", withSignature(other, good(plain)), gitrepo.ErrUntrusted, "the signature is bad"},
		{"tampered line ends", withSignature(payload(u, "Change\r\n"), good(plain)), gitrepo.ErrUntrusted, "the signature is bad"},
		{"injected header", strings.Replace(signed(plain, good), "\ngpgsig ", "\nencoding UTF-16\ngpgsig ", 1), gitrepo.ErrUntrusted, "the signature is bad"},
		{"injected parent", strings.Replace(signed(plain, goodSSH), "\nauthor ", "\nparent "+u.Head()+"\nauthor ", 1), gitrepo.ErrUntrusted, "the signature is bad"},
		{"second tree", signed(strings.Replace(plain, "\n\n", "\ntree "+strings.Repeat("0", 40)+"\n\n", 1), good), gitrepo.ErrUntrusted, "headers"},
		{"two headers", withSignature(signed(plain, good), good(plain)), gitrepo.ErrUntrusted, "more than one signature"},
		{"two blocks", withSignature(plain, good(plain)+good(plain)), gitrepo.ErrUntrusted, "other text beside its signature"},
		{"two packets", withSignature(plain, twice(t, good(plain))), gitrepo.ErrUntrusted, "more than one signature"},
		{"words behind it", withSignature(plain, goodSSH(plain)+"and more\n"), gitrepo.ErrUntrusted, "other text beside its signature"},
		{"signature for SHA-256 objects", strings.Replace(signed(plain, good), "\ngpgsig ", "\ngpgsig-sha256 x\ngpgsig ", 1), gitrepo.ErrUntrusted, "unknown format"},
		{"kind swapped", withSignature(plain, strings.ReplaceAll(good(plain), "PGP SIG", "SSH SIG")), gitrepo.ErrUntrusted, "cannot be read"},
		{"x.509", withSignature(plain, "-----BEGIN SIGNED MESSAGE-----\nx\n-----END SIGNED MESSAGE-----\n"), gitrepo.ErrUntrusted, "unknown format"},
		{"garbled", withSignature(plain, strings.Replace(good(plain), "\n\n", "\n\n!!!!", 1)), gitrepo.ErrUntrusted, "cannot be read"},
		{"signed text", withSignature(plain, textSignature(t, ada, plain)), gitrepo.ErrUntrusted, "binary document"},
		{"sha-1", signed(plain, sha1PGP(t, ada)), gitrepo.ErrUntrusted, "weak hash SHA-1"},
		{"ssh key that is younger", signed(plain, bySSH(t, bobSSH, "git", "sha512")), gitrepo.ErrUntrusted, "before the key became valid"},
		{"ssh key that has expired since", signed(plain, bySSH(t, annSSH, "git", "sha512")), gitrepo.ErrUntrusted, "which has expired"},
		{"wrong namespace", signed(plain, bySSH(t, adaSSH, "file", "sha512")), gitrepo.ErrUntrusted, `for "file", not for git`},
		{"ssh with sha1", signed(plain, bySSH(t, adaSSH, "git", "sha1")), gitrepo.ErrUntrusted, `hash "sha1"`},
		{"from the future", signed(strings.ReplaceAll(plain, "> 17", "> 27"), goodSSH), gitrepo.ErrUntrusted, "in the future"},
	}
	var all []string
	for _, test := range tests {
		all = append(all, test.commit)
	}
	r, commits := brought(t, u, all...)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			commit := commits[i]
			err := r.Verify(commit, gitrepo.Policy{Trust: trust}, today)
			if test.kind == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantError(t, err, test.kind, test.say)
			wantError(t, err, test.kind, commit[:12])
		})
	}
}

func signed(payload string, by signer) string { return withSignature(payload, by(payload)) }

// Signer tells who it was by the trusted keys alone.
func TestSigner(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	plain := payload(u, "By Mallory <mallory@example.com>\n")
	ada, adaSSH := pgpKey(t, "ada"), sshKey(t)
	trust := signature.Trust{OpenPGP: file(t, public(t, ada)), SSH: file(t, "ada@example.com,ada "+authorized(adaSSH))}
	for _, test := range []struct {
		by   signer
		want signature.Signer
	}{
		{byPGP(t, ada), signature.Signer{Form: "openpgp", Fingerprint: fmt.Sprintf("%X", ada.PrimaryKey.Fingerprint), Principal: "ada <ada@example.com>"}},
		{bySSH(t, adaSSH, "git", "sha512"), signature.Signer{Form: "ssh", Fingerprint: ssh.FingerprintSHA256(adaSSH.PublicKey()), Principal: "ada@example.com,ada"}},
	} {
		r, commits := brought(t, u, signed(plain, test.by))
		got, err := r.Signer(commits[0], trust, today)
		if err != nil || got != test.want {
			t.Errorf("signer %+v, %v, want %+v", got, err, test.want)
		}
	}
	if _, err := open(t).Signer(strings.Repeat("ab", 20), trust, today); !errors.Is(err, gitrepo.ErrNoCommit) {
		t.Errorf("a commit that is not here: %v", err)
	}
}

// A key counts while it is valid, whatever time its signatures claim.
func TestVerifyKeysOverTime(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	plain := payload(u, "Change\n")
	const day = 24 * 60 * 60
	expired := pgpKey(t, "expired", func(c *packet.Config) { c.KeyLifetimeSecs = 364 * day })
	ending := pgpKey(t, "ending", func(c *packet.Config) { c.KeyLifetimeSecs = 366 * day })
	young := pgpKey(t, "young", func(c *packet.Config) { c.Time = at(today) })
	revoked, retired := pgpKey(t, "revoked"), pgpKey(t, "retired")
	weak := pgpKey(t, "weak", func(c *packet.Config) { c.Algorithm, c.RSABits, c.MinRSABits = packet.PubKeyAlgoRSA, 1024, 1024 })
	short := pgpKey(t, "short")
	early := byPGP(t, expired, func(c *packet.Config) { c.Time = at(today.AddDate(0, -6, 0)) })(plain)
	before := byPGP(t, retired, func(c *packet.Config) { c.Time = at(today.AddDate(0, -6, 0)) })(plain)
	stolen := byPGP(t, revoked)(plain)
	revoke(t, revoked, packet.KeyCompromised)
	revoke(t, retired, packet.KeyRetired)
	trust := signature.Trust{OpenPGP: file(t, public(t, expired, ending, young, revoked, retired, weak, short))}
	brief := func(c *packet.Config) { c.SigLifetimeSecs = 60 }
	tests := []struct{ name, signature, say string }{
		{"still valid", byPGP(t, ending)(plain), ""},
		{"expired", early, "which has expired"},
		{"revoked", stolen, "which is revoked"},
		{"revoked later", before, "which is revoked"},
		{"older than its key", rawPGP(t, young, packet.SigTypeBinary, crypto.SHA256, today.Add(-time.Hour), plain), "older than OpenPGP key"},
		{"as old as its key", rawPGP(t, young, packet.SigTypeBinary, crypto.SHA256, today, plain), ""},
		{"in the future", byPGP(t, ending, func(c *packet.Config) { c.Time = at(today.Add(time.Hour)) })(plain), "in the future"},
		{"ahead by a little", byPGP(t, ending, func(c *packet.Config) { c.Time = at(today.Add(time.Minute)) })(plain), ""},
		{"1024 bits", byPGP(t, weak, func(c *packet.Config) { c.MinRSABits = 1024 })(plain), "too weak"},
		{"on a condition", byPGP(t, ending, func(c *packet.Config) {
			c.SignatureNotations = []*packet.Notation{{Name: "only@example.com", Value: []byte("x"), IsCritical: true, IsHumanReadable: true}}
		})(plain), `the condition "only@example.com"`},
		{"signature that ends", byPGP(t, short, brief)(plain), "signature by OpenPGP key " + fmt.Sprintf("%X", short.PrimaryKey.Fingerprint) + " has expired"},
	}
	var all []string
	for _, test := range tests {
		all = append(all, withSignature(plain, test.signature))
	}
	r, commits := brought(t, u, all...)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := r.Verify(commits[i], gitrepo.Policy{Trust: trust}, today)
			if test.say == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantError(t, err, gitrepo.ErrUntrusted, test.say)
		})
	}
}

func revoke(t *testing.T, key *openpgp.Entity, why packet.ReasonForRevocation) {
	t.Helper()
	must.Do(t, key.Revoke(why, "", &packet.Config{Time: at(today.Add(-time.Minute))}))
}

// A file that cannot be used refuses every commit, the signed ones too.
func TestVerifyNeedsItsFiles(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	plain := payload(u, "Change\n")
	ada, adaSSH := pgpKey(t, "ada"), sshKey(t)
	keys, signers := public(t, ada), "ada "+authorized(adaSSH)
	r, commits := brought(t, u, signed(plain, byPGP(t, ada)))
	commit := commits[0]
	var private bytes.Buffer
	must.Do(t, ada.SerializePrivate(&private, nil))
	for _, test := range []struct {
		name  string
		trust signature.Trust
		say   string
	}{
		{"no file named", signature.Trust{}, "names no file"},
		{"missing", signature.Trust{OpenPGP: "/nowhere/keys.asc"}, "reading /nowhere/keys.asc: the keys to trust cannot be used: no such file"},
		{"missing, of the other kind", signature.Trust{OpenPGP: file(t, keys), SSH: "/nowhere/signers"}, "no such file"},
		{"a folder", signature.Trust{OpenPGP: t.TempDir()}, "regular file"},
		{"others may write to it", signature.Trust{OpenPGP: withMode(t, filepath.Join(t.TempDir(), "keys"), 0o666, keys)}, "others may write to"},
		{"others may write to the signers", signature.Trust{SSH: withMode(t, filepath.Join(t.TempDir(), "signers"), 0o646, signers)}, "others may write to"},
		{"empty", signature.Trust{OpenPGP: file(t, "")}, "it holds no key"},
		{"only words", signature.Trust{OpenPGP: file(t, "keys will follow\n")}, "it holds no key"},
		{"cut off", signature.Trust{OpenPGP: file(t, keys+keys[:len(keys)/2])}, "block 2"},
		{"private", signature.Trust{OpenPGP: file(t, armored(t, openpgp.PrivateKeyType, private.Bytes()))}, "PRIVATE"},
		{"private in disguise", signature.Trust{OpenPGP: file(t, armored(t, openpgp.PublicKeyType, private.Bytes()))}, "private key"},
		{"empty signers", signature.Trust{OpenPGP: file(t, keys), SSH: file(t, "\n# nobody\n")}, "it holds no key"},
		{"bad line", signature.Trust{OpenPGP: file(t, keys), SSH: file(t, signers+"\nada nonsense\n")}, "line 2"},
		{"too large", signature.Trust{OpenPGP: file(t, keys+strings.Repeat(" ", 5<<20))}, "over the bound"},
		{"the other kind alone", signature.Trust{SSH: file(t, signers)}, "no keys are trusted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := r.Verify(commit, gitrepo.Policy{Trust: test.trust}, today)
			kind := gitrepo.ErrTrust
			if test.name == "the other kind alone" {
				kind = gitrepo.ErrUntrusted
			}
			wantError(t, err, kind, test.say)
		})
	}
	// The file is read each time.
	rotated := file(t, public(t, pgpKey(t, "bob")))
	policy := gitrepo.Policy{Trust: signature.Trust{OpenPGP: rotated}}
	wantError(t, r.Verify(commit, policy, today), gitrepo.ErrUntrusted, "not trusted")
	must.Do(t, os.WriteFile(rotated, []byte(keys), 0o600))
	if err := r.Verify(commit, policy, today); err != nil {
		t.Errorf("after the key was added: %v", err)
	}
}

// withMode writes a file with a mode, whatever is masked, and returns its path.
func withMode(t *testing.T, path string, mode os.FileMode, text string) string {
	t.Helper()
	must.Do(t, errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)))
	return path
}
