package forge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFitKeepsWhatFits(t *testing.T) {
	text := "<!-- m -->\n" + strings.Repeat("x", 100)
	if got := fit(text, len(text)); got != text {
		t.Errorf("got %q", got)
	}
}

// What a cut leaves open is closed, before the line that tells of it.
func TestFitCloses(t *testing.T) {
	long := strings.Repeat("a line\n", 1000)
	for name, test := range map[string]struct{ text, want string }{
		"code":             {"```diff\n" + long, "\na line\n```\n\n**Truncated"},
		"long fence":       {"`````\n```\n" + long, "\na line\n`````\n\n**Truncated"},
		"tildes":           {"~~~\n" + long, "\na line\n~~~\n\n**Truncated"},
		"closed":           {"```\nx\n```\n" + long, "\na line\n\n**Truncated"},
		"hidden":           {"x <!-- y\n" + long, "\na line\n-->\n\n**Truncated"},
		"folded":           {"<details>\n<details open>\n</details>\n<details>\n" + long, "\na line\n</details>\n</details>\n\n**Truncated"},
		"code in a folder": {"<details>\n```\n" + long, "\na line\n```\n</details>\n\n**Truncated"},
	} {
		got := fit(test.text, 2000)
		if !strings.Contains(got, test.want) || len(got) > 2000 {
			t.Errorf("%s: %d bytes, ends in %q", name, len(got), got[len(got)-100:])
		}
	}
}

// Whatever a text is, it fits, is sound, and begins as it did.
func TestFitLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "é", "\U0001F30A", "\n", "```", "~~~~", "<!--", "-->", "<details>", "</details>", "\xff", "\x00", strings.Repeat("`", 200)})
		text := "<!-- m -->\n" + strings.Join(rapid.SliceOfN(piece, 0, 3000).Draw(t, "text"), "")
		got := fit(text, 1500)
		if len(got) > 1500 || !utf8.ValidString(got) || strings.ContainsRune(got, 0) || !strings.HasPrefix(got, "<!-- m -->\n") {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}

// What a forge may answer.
func TestMessage(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Not Found"}`:                                                    "Not Found",
		`{"message":{"base":["taken","gone"],"a":["x"]}}`:                            "a x, base taken, gone",
		`{"error":"invalid_token","error_description":"Token is expired."}`:          "invalid_token, Token is expired.",
		`{"message":"Validation Failed","errors":[{"message":"too long"},{"x":[]}]}`: "Validation Failed, too long, x",
		`{"message":"a\nb\u001b\u0007"}`:                                             "a b\\u{1b}\\u{7}",
		`<html>`:                                                                     "", `[]`: "", `{}`: "", `{"message":7}`: "",
	} {
		if got := message([]byte(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		kind       Kind
		text, want string
	}{
		{GitHub, "", "https://api.github.com/"},
		{GitHub, "https://github.com/", "https://api.github.com/"},
		{GitHub, "https://api.github.com", "https://api.github.com/"},
		{GitHub, "https://acme.ghe.com", "https://api.acme.ghe.com/"},
		{GitHub, "https://ghe.example", "https://ghe.example/api/v3/"},
		{GitHub, "https://ghe.example/api/v3/", "https://ghe.example/api/v3/"},
		{GitLab, "", "https://gitlab.com/"},
		{GitLab, "https://git.example/gitlab/api/v4/", "https://git.example/gitlab/"},
		{Gitea, "https://codeberg.org/", "https://codeberg.org"},
		{Gitea, "https://git.example/forge/api/v1", "https://git.example/forge"},
		{Gitea, "http://[::1]:3000", "http://[::1]:3000"},
	} {
		got, err := address(test.kind, test.text)
		if err != nil || got.String() != test.want {
			t.Errorf("%s %q: got %v, %v; want %s", test.kind, test.text, got, err, test.want)
		}
	}
}
