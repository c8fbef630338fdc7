package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/redact"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
	"github.com/seawall-dev/seawall/integration/must"
)

// token looks like those of most services.
const token = "k8Jx-2vQ_pLm9ZtR4wYb7NcD1fGh5sKa3eUo6iXz"

func of(secrets ...string) *redact.Redactor {
	r := redact.New(100)
	for _, secret := range secrets {
		r.Add(secret)
	}
	return r
}

// Whatever a server makes of a secret, and of a piece of it of 12 characters or more,
// nothing of it is left, and all that stands around it is.
func TestEveryEncoding(t *testing.T) {
	for _, secret := range []string{token, "pass/word+&%41-<000001>", "git-pass\"wörd\\42 and more"} {
		r := of("another secret of this process", secret)
		for _, e := range redacttest.Encodings {
			for _, piece := range []string{secret, secret[:14], secret[len(secret)-12:], secret[3:17]} {
				text := e.Encode(piece)
				got := r.String("before (" + text + ") after")
				if !strings.HasPrefix(got, "before (") || !strings.HasSuffix(got, ") after") {
					t.Errorf("%s: what is around %q is gone: %q", e.Name, text, got)
				}
				if left := len(strings.ReplaceAll(got, redact.Mark, "")) - len("before () after"); left > e.Left {
					t.Errorf("%s: %d bytes are left of %q: %q", e.Name, left, text, got)
				}
			}
		}
	}
}

// Other text stays as it is, and is not even copied.
func TestOtherTextStays(t *testing.T) {
	r := of(token, "s3cret", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACD\n-----END OPENSSH PRIVATE KEY-----\n")
	for _, text := range []string{
		"", "x", "PATCH /zones/00000000000000000000000000000a01/rulesets: 403 Forbidden: no (code 10000)",
		token[:11], token[5:16], "k8Jx 2vQ pLm9 ZtR4", "100%", `a\`, "%zz %4 &; &nope; \\u12", "-----BEGIN OPENSSH PRIVATE KEY-----",
		"AAAAAAAAAAAAAAAAAAAA", "000000000000000000",
	} {
		if got := r.String(text); got != text {
			t.Errorf("got %q for %q", got, text)
		}
		if b := []byte(text); len(b) > 0 && &r.Bytes(b)[0] != &b[0] {
			t.Errorf("%q was copied", text)
		}
	}
}

func TestShortSecrets(t *testing.T) {
	r := of("s3cret", "pass7", "eight-88")
	for text, want := range map[string]string{
		"it is s3cret.":        "it is [secret].",
		"S3CRET terc3s":        "[secret] [secret]",
		"czNjcmV0":             "[secret]", // Base64
		"733363726574":         "[secret]", // hexadecimal
		"pass7":                "pass7",    // shorter than what is looked for
		"eight-8 eight-88 ...": "eight-8 [secret] ...",
	} {
		if got := r.String(text); got != want {
			t.Errorf("got %q for %q, want %q", got, text, want)
		}
	}
}

// What is left of JSON is JSON.
func TestJSONStaysWhole(t *testing.T) {
	secret := "nsecret\"with\\quotes/and more"
	r := of(secret)
	for _, text := range []string{secret, "\n" + secret, secret + "\\", "\\" + secret, "<" + secret + ">"} {
		line, err := json.Marshal(map[string]string{"error": text, "other": "kept"})
		must.Do(t, err)
		clean := r.Bytes(line)
		var back map[string]string
		if err := json.Unmarshal(clean, &back); err != nil || back["other"] != "kept" || !strings.Contains(back["error"], redact.Mark) {
			t.Errorf("%s became %s: %v", line, clean, err)
		}
	}
}

// TestSecretsLikeBoundaries: dashes at the beginning of a line do not make it a boundary of PEM.
func TestSecretsLikeBoundaries(t *testing.T) {
	body := strings.Repeat(token, 2)
	for _, secret := range []string{
		"-----+++++++", "-----" + token, "-----BEGIN " + token, "-----BEGIN " + token + "-----",
		`-----BEGIN PRIVATE KEY-----\n` + body + `\n-----END PRIVATE KEY-----`,
		"-----BEGIN PRIVATE KEY-----\n-----" + body + "\n-----END PRIVATE KEY-----\n",
	} {
		if got := of(secret).String("it said " + secret); got == "it said "+secret || strings.Contains(got, token) {
			t.Errorf("%q became %q", secret, got)
		}
	}
}

// No piece of 12 characters of any secret is left in any text, whatever is beside it; and
// what is redacted once is redacted.
func TestNoPieceIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[0-9A-Za-z_+/=.-]{12,60}`).Draw(t, "secret")
		r := of(secret)
		from := rapid.IntRange(0, len(secret)-redact.Piece).Draw(t, "from")
		piece := secret[from : from+rapid.IntRange(redact.Piece, len(secret)-from).Draw(t, "length")]
		before := rapid.String().Draw(t, "before")
		if len(piece) < redact.Piece+2 {
			before = strings.TrimRight(before, "%") // it would make an escape of the first two characters, and leave too few
		}
		text := before + rapid.SampledFrom(redacttest.Encodings).Draw(t, "encoding").Encode(piece) + rapid.String().Draw(t, "after")
		got := r.String(text)
		if !strings.Contains(got, redact.Mark) && distinct(piece) > 8 {
			t.Fatalf("%q is left", text)
		}
		if strings.Contains(strings.ToLower(got), strings.ToLower(piece)) && distinct(piece) > 8 {
			t.Fatalf("%q became %q", text, got)
		}
		if again := r.String(got); again != got {
			t.Fatalf("%q became %q", got, again)
		}
	})
}

func distinct(s string) int {
	seen := map[rune]bool{}
	for _, c := range s {
		seen[c] = true
	}
	return len(seen)
}

// The secrets that were added last are kept: those in use are added again and again.
func TestMemoryHasABound(t *testing.T) {
	r := redact.New(10)
	for i := range 1000 {
		r.Add(token)
		made := fmt.Sprintf("created-token-%04d-0123456789abcdef", i)
		r.Add(made)
		if i%100 == 0 {
			if got := r.String(made + " " + token); got != redact.Mark+" "+redact.Mark && got != redact.Mark {
				t.Fatalf("after %d: %q", i, got)
			}
		}
	}
	if text := "created-token-0001-0123456789abcdef"[:18]; r.String(text+"!") == text+"!" {
		t.Error("the secrets that were added last are not known")
	}
}

func TestForget(t *testing.T) {
	r := redact.New(10)
	r.Add(token)
	first := r.String(token) // it is in the tables
	other := "another-token-0123456789abcdef"
	r.Add(other)
	r.Forget()
	if text := token + " " + other; first != redact.Mark || r.String(text) != text {
		t.Errorf("%q, then %q", first, r.String(text))
	}
	if r.Add(token); r.String(token) != redact.Mark {
		t.Error("a secret that was added after that is not known")
	}
}

func TestConcurrentUse(t *testing.T) {
	r := redact.New(20)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 50 {
				secret := fmt.Sprintf("%d-%d-secret-of-many", g, i)
				r.Add(secret)
				r.Add(token)
				if got := r.String("x " + token + " y"); got != "x [secret] y" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
}

// What a hostile server says of a secret is redacted so that a search that knows nothing
// of how finds nothing, and the search finds each encoding of what is not redacted.
func TestEcho(t *testing.T) {
	search := redacttest.For(token)
	r := of(token)
	if got := r.String(redacttest.Echo(token)); search.In([]byte(got)) != "" {
		t.Errorf("%s in %q", search.In([]byte(got)), got)
	}
	for _, e := range redacttest.Encodings {
		switch e.Name {
		case "hex dump", "hex with colons", "percent twice", "UTF-16": // the search does not take these apart
		default:
			if search.In([]byte("x "+e.Encode(token))) == "" {
				t.Errorf("%s is not found", e.Name)
			}
		}
	}
}

func TestWriter(t *testing.T) {
	var out strings.Builder
	w := of(token).Writer(&out)
	line := "you sent " + token + "\n"
	if n, err := w.Write([]byte(line)); n != len(line) || err != nil || out.String() != "you sent [secret]\n" {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
}

// The log lines and the errors of a change of 10,000 zones: most without a secret, and all
// with one.
func BenchmarkRedact(b *testing.B) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat(base64.StdEncoding.EncodeToString([]byte(token))+"\n", 40)
	r := of(token, strings.ToUpper(token[7:])+"2", key, "webhook-secret-0123", "forge-token-abcdefghi")
	clean := `{"time":"2026-03-01T12:00:00Z","level":"ERROR","msg":"change not applied","zone":"shop-01234.example","error":"PATCH /zones/00000000000000000000000000000a01/rulesets/entrypoint: 500 Internal Server Error: \"something went wrong\" (code 10000)"}` + "\n"
	for name, line := range map[string]string{"clean": clean, "echo": strings.Replace(clean, "something", token, 1), "escapes": strings.ReplaceAll(clean, " ", "%20")} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			text := []byte(line)
			for b.Loop() {
				_ = r.Bytes(text)
			}
		})
	}
	b.Run("add", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r := redact.New(10)
			r.Add(fmt.Sprint(token, i))
			_ = r.String(clean)
		}
	})
}
