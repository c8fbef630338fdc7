package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
)

func token() (edge.Secret, error) { return edge.NewSecret(testToken), nil }

func TestBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://api.example.com/client/v4":    "",
		"https://api.example.com/client/v4/":   "",
		"http://127.0.0.1:8710/client/v4":      "",
		"http://[::1]:8710":                    "",
		"http://localhost":                     "",
		"":                                     "must look like",
		"api.example.com/client/v4":            "must look like",
		"ftp://api.example.com":                "must look like",
		"https://":                             "must look like",
		"http://api.example.com":               "clear text to api.example.com",
		"http://localhost.example.com":         "clear text",
		"https://u:hunter2hunter2@h/client/v4": "user name or password",
		"https://u:hunter2hunter2@h:port/":     "is not a URL",
		"https://h/?key=hunter2hunter2":        "no query",
		"https://h/#hunter2hunter2":            "no fragment",
		"https://h\x7f/hunter2hunter2":         "is not a URL",
	} {
		_, err := New(Config{BaseURL: raw, Token: token})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", raw, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats what was in the address: %v", err)
		}
	}
	if _, err := New(Config{BaseURL: "https://api.example.com"}); err == nil {
		t.Error("a client without a credential was made")
	}
}

// The credential is read for each call, and a bad one sends nothing.
func TestCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		value, failure := "first", error(nil)
		c := s.client(t, func(config *Config) {
			config.Token = func() (edge.Secret, error) { return edge.NewSecret(value), failure }
		})
		check(t, get(c))
		value = "second"
		check(t, get(c))
		for _, bad := range []string{"", "two words-hunter2", "line-hunter2\n", "hunter2\x00"} {
			value = bad
			err := get(c)
			wantText(t, err, "reading the credential")
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats the credential: %v", err)
			}
		}
		failure = errors.New("no such file")
		if err := get(c); !errors.Is(err, failure) {
			t.Errorf("got %v", err)
		}
		seen := s.arrivals()
		if len(seen) != 2 || seen[0].header.Get("Authorization") != "Bearer first" || seen[1].header.Get("Authorization") != "Bearer second" {
			t.Errorf("got %+v", seen)
		}
	})
}

// A request says who sends it, where its context knows.
func TestUserAgentHasTheComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, comment := serve(t, answer(200, entryJSON)), ""
		c := s.client(t, func(config *Config) { config.Comment = func(context.Context) string { return comment } })
		check(t, get(c))
		comment = "replica a; epoch 3"
		check(t, get(c))
		seen := s.arrivals()
		if first, second := seen[0].header.Get("User-Agent"), seen[1].header.Get("User-Agent"); first != "seawall" || second != "seawall (replica a; epoch 3)" {
			t.Errorf("the headers are %q and %q", first, second)
		}
	})
}
