package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/integration/must"
)

const (
	someTree   = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
	someAuthor = "author A <a@example.com> 1767225600 +0000\n"
	committer  = "committer A <a@example.com> 1767225600 +0000\n"
)

func TestReadCommit(t *testing.T) {
	const plain = someTree + someAuthor + committer + "extra a\n b\n\nmessage\n\ngpgsig no\n"
	o, err := ReadCommit([]byte(strings.Replace(plain, "extra a\n", "gpgsig one\n two\n \n three\nextra a\n", 1)))
	if err != nil || string(o.payload) != plain || string(o.signature) != "one\ntwo\n\nthree\n" {
		t.Errorf("payload %q, signature %q, %v", o.payload, o.signature, err)
	}
	if !o.when.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("made at %v", o.when)
	}
	for _, odd := range []string{
		"", "\n\n", someTree, someTree + someAuthor + committer,
		strings.ToUpper(someTree) + someAuthor + committer + "\n",
		strings.Replace(someTree, "\n", "\r\n", 1) + someAuthor + committer + "\n",
		strings.Replace(someTree, "\n", " \n", 1) + someAuthor + committer + "\n",
		" " + someTree + someAuthor + committer + "\n",
		someAuthor + someTree + committer + "\n",
		someTree + committer + someAuthor + "\n",
		someTree + someTree + someAuthor + committer + "\n",
		someTree + someAuthor + committer + committer + "\n",
		someTree + someAuthor + committer + "tree\t1\n\n",
		someTree + someAuthor + "committer A <a@example.com> -5 +0000\n\n",
		someTree + someAuthor + "committer A <a@example.com> soon\n\n",
		someTree + "gpgsig a\n" + someAuthor + "gpgsig b\n" + committer + "\n",
	} {
		var why *Error
		if _, err := ReadCommit([]byte(odd)); !errors.As(err, &why) || why.Kind != ErrUntrusted {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

func TestReadTag(t *testing.T) {
	const plain = "object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ntype commit\ntag v1\ntagger A <a@example.com> 1767225600 +0000\n\n"
	const fake = "-----BEGIN PGP SIGNATURE-----\nfake\n-----END PGP SIGNATURE-----\n"
	o, err := ReadTag([]byte(plain + "first\n" + fake + "-----BEGIN SSH SIGNATURE-----\nx\n"))
	if err != nil || string(o.payload) != plain+"first\n"+fake || string(o.signature) != "-----BEGIN SSH SIGNATURE-----\nx\n" || o.Name != "v1" {
		t.Errorf("payload %q, signature %q, %v", o.payload, o.signature, err)
	}
	if o, err := ReadTag([]byte(plain + "not -----BEGIN PGP SIGNATURE-----\n")); err != nil || len(o.signature) > 0 {
		t.Errorf("a signature within a line: %q, %v", o.signature, err)
	}
	for _, odd := range []string{
		"", "\n\n", strings.TrimSuffix(plain, "\n"),
		strings.Replace(plain, "type commit", "type tag", 1),
		strings.Replace(plain, "tag v1\n", "", 1),
		strings.Replace(plain, "tagger", "gpgsig x\ntagger", 1),
		strings.Replace(plain, "+0000\n", "+0000\nobject 0000000000000000000000000000000000000000\n", 1),
	} {
		if _, err := ReadTag([]byte(odd)); err == nil {
			t.Errorf("%q is a tag", odd)
		}
	}
}

const (
	lineKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIF4kTtO7cZ1Dk4mS7nJmUxSz3T7eZ7W8m9rZl1bV2Qx"
	otherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILm0o0B5o1pX0X9w9b1qYw3fGm0x6c8mJ7q2yq4nT1aB"
)

func TestAllowedSigners(t *testing.T) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(lineKey))
	must.Do(t, err)
	june := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ text, principals, say string }{
		{"ada@example.com " + lineKey, "ada@example.com", ""},
		{"# x\r\n\r\n  \t\n a,b\t" + lineKey + " Ada's key\r\n", "a,b", ""},
		{`"a b",c ` + lineKey, "", "not PRINCIPALS"},
		{`"a b" ` + lineKey, "a b", ""},
		{`* namespaces="file,git" ` + lineKey, "*", ""},
		{`* NAMESPACES="g*" ` + lineKey, "*", ""},
		{`* namespaces=git ` + lineKey, "*", ""},
		{`* namespaces="*,!git" ` + lineKey, "", "may not sign for git"},
		{`* namespaces="file" ` + lineKey, "", "may not sign for git"},
		{`a namespaces="file" ` + lineKey + "\nb " + lineKey, "b", ""},
		{"b " + otherKey, "", "not trusted"},
		{`a valid-after="20260601Z",valid-before="20260602Z" ` + lineKey, "a", ""},
		{`a valid-before="202606011200Z" ` + lineKey, "a", ""},
		{`a valid-before="20260601115959Z" ` + lineKey, "", "line 1), which has expired"},
		{`a valid-after="20260601120001Z" ` + lineKey, "", "before the key became valid"},
		{`a valid-after="202606011300" ` + lineKey, "a", ""}, // two hours east of Greenwich
		{`a valid-after="202606011401" ` + lineKey, "", "before the key became valid"},
		{"", "", "holds no key"},
		{"# nothing\n", "", "holds no key"},
		{"a", "", "line 1: "},
		{lineKey, "", "line 1: "},
		{"a " + lineKey + "\n\na nonsense", "", "line 3: "},
		{"a cert-authority " + lineKey, "", "cert-authority is not supported"},
		{"a no-touch-required " + lineKey, "", `"no-touch-required" is not known`},
		{`a namespaces="git ` + lineKey, "", "not closed"},
		{`a namespaces="" ` + lineKey, "", "empty or said twice"},
		{`a valid-after="2026-06-01" ` + lineKey, "", "is no time"},
		{`a valid-after="20260601",valid-after="20260601" ` + lineKey, "", "said twice"},
		{`a valid-after="20261301" ` + lineKey, "", "is no time"},
		{`a namespaces="git" namespaces="git" ` + lineKey, "", "must be a public key"},
		{", " + lineKey, "", "principals"},
		{"a ssh-ed25519 AAAA", "", "must be a public key"},
	} {
		lines, err := readAllowedSigners(test.text, time.FixedZone("", 2*60*60))
		var line allowedSigner
		if err == nil {
			line, err = allowed(lines, key, june)
		}
		switch {
		case test.say != "" && (err == nil || !strings.Contains(err.Error(), test.say)):
			t.Errorf("%s: error %v does not say %q", test.text, err, test.say)
		case test.say == "" && (err != nil || line.principals != test.principals):
			t.Errorf("%s: %q, %v", test.text, line.principals, err)
		}
	}
}

// A key is asked at each of the times.
func TestAllowedAtAllTimes(t *testing.T) {
	lines, err := readAllowedSigners(`a valid-after="20260101Z",valid-before="20260201Z" `+lineKey, time.UTC)
	must.Do(t, err)
	within, before, after := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC), time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		times []time.Time
		ok    bool
	}{{[]time.Time{within, within}, true}, {[]time.Time{within, after}, false}, {[]time.Time{before, within}, false}} {
		if _, err := allowed(lines, lines[0].key, test.times...); (err == nil) != test.ok {
			t.Errorf("%v: %v", test.times, err)
		}
	}
}

// sshBlob is a well-formed signature, made by nobody.
func sshBlob(change func(*sshSignature)) []byte {
	public, _, _ := ed25519.GenerateKey(rand.Reader)
	key, _ := ssh.NewPublicKey(public)
	s := sshSignature{
		Magic: sshMagic, Version: 1, PublicKey: key.Marshal(), Namespace: "git", HashAlgorithm: "sha512",
		Signature: ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: make([]byte, 64)}),
	}
	change(&s)
	return ssh.Marshal(s)
}

func armorSSH(blob []byte) string {
	return "-----BEGIN SSH SIGNATURE-----\n" + base64.StdEncoding.EncodeToString(blob) + "\n-----END SSH SIGNATURE-----\n"
}

func TestParseSSHSignature(t *testing.T) {
	good := sshBlob(func(*sshSignature) {})
	if _, _, err := parseSSHSignature([]byte(armorSSH(good))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":          "",
		"no end":           strings.TrimSuffix(armorSSH(good), "-----END SSH SIGNATURE-----\n"),
		"no base64":        "-----BEGIN SSH SIGNATURE-----\n!\n-----END SSH SIGNATURE-----\n",
		"empty":            "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
		"something before": "x" + armorSSH(good),
		"something behind": armorSSH(good) + "x",
		"a tail":           armorSSH(append(bytes.Clone(good), 0)),
		"cut off":          armorSSH(good[:len(good)-1]),
		"other magic":      armorSSH(sshBlob(func(s *sshSignature) { s.Magic[0]++ })),
		"version 2":        armorSSH(sshBlob(func(s *sshSignature) { s.Version = 2 })),
		"no key":           armorSSH(sshBlob(func(s *sshSignature) { s.PublicKey = nil })),
		"a key's tail":     armorSSH(sshBlob(func(s *sshSignature) { s.PublicKey = append(s.PublicKey, 0) })),
	} {
		if _, _, err := parseSSHSignature([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// RSA keys may be long enough and still sign with SHA-1.
func TestSSHWithRSA(t *testing.T) {
	for _, test := range []struct {
		bits   int
		format string
		say    string
	}{
		{2048, ssh.KeyAlgoRSASHA256, ""},
		{2048, ssh.KeyAlgoRSASHA512, ""},
		{2048, ssh.KeyAlgoRSA, "with SHA-1"},
		{1024, ssh.KeyAlgoRSASHA512, "1024 bits"},
	} {
		private, err := rsa.GenerateKey(rand.Reader, test.bits)
		must.Do(t, err)
		signer, err := ssh.NewSignerFromKey(private)
		must.Do(t, err)
		s := sshSignature{Magic: sshMagic, Version: 1, Namespace: "git", HashAlgorithm: "sha256"}
		payload := []byte("payload")
		hash := sha256.Sum256(payload)
		made, err := signer.(ssh.AlgorithmSigner).SignWithAlgorithm(rand.Reader, ssh.Marshal(sshMessage{sshMagic, "git", nil, "sha256", hash[:]}), test.format)
		must.Do(t, err)
		s.Signature = ssh.Marshal(made)
		err = s.verify(signer.PublicKey(), payload)
		if test.say == "" && err != nil || test.say != "" && (err == nil || !strings.Contains(err.Error(), test.say)) {
			t.Errorf("%s with %d bits: %v, want %q", test.format, test.bits, err, test.say)
		}
	}
}

// What is read as a signature is so in one way only: armored anew it is the same.
func FuzzSSHSignature(f *testing.F) {
	f.Add([]byte(armorSSH(sshBlob(func(*sshSignature) {}))))
	f.Add([]byte(armorSSH(sshBlob(func(s *sshSignature) { s.Reserved = []byte("x") }))))
	f.Add([]byte(armorSSH(nil)))
	f.Fuzz(func(t *testing.T, armored []byte) {
		s, key, err := parseSSHSignature(armored)
		if err != nil {
			return
		}
		again, sameAgain, err := parseSSHSignature([]byte(armorSSH(ssh.Marshal(s))))
		if err != nil || !bytes.Equal(ssh.Marshal(again), ssh.Marshal(s)) || !sameKey(key, sameAgain) {
			t.Errorf("%q is read as %+v, and that as %+v, %v", armored, s, again, err)
		}
		if s.verify(key, []byte("never signed")) == nil {
			t.Errorf("%q signs what nobody signed", armored)
		}
	})
}

// Every line that is read has a key, and a file is no more than its lines.
func FuzzAllowedSigners(f *testing.F) {
	f.Add("a " + lineKey)
	f.Add("# x\n\"a b\" namespaces=\"git,f*\",valid-after=\"20260101\",valid-before=\"20260101120000Z\" " + lineKey + " c\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := readAllowedSigners(text, time.UTC)
		if err != nil {
			return
		}
		if len(all) == 0 {
			t.Errorf("%q is empty and no error", text)
		}
		lines := strings.Split(text, "\n")
		for _, s := range all {
			one, err := readAllowedSigners(lines[s.line-1], time.UTC)
			if err != nil || len(one) != 1 || s.key == nil || one[0].principals != s.principals || !sameKey(one[0].key, s.key) {
				t.Errorf("line %d of %q: %+v and %+v, %v", s.line, text, s, one, err)
			}
			if _, err := allowed(all, s.key); err != nil && s.namespaces == "" {
				t.Errorf("line %d of %q allows nobody: %v", s.line, text, err)
			}
		}
	})
}
