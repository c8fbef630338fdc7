package sink

import (
	"os"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) {
	soak.AtOnce(8)
	os.Exit(soak.Main(m, 0))
}

var secret = edge.NewSecret("v1.0-Tok3nValue_abcdefghijklmnopqrstuvwxyz-0123456789")

func TestConfiguration(t *testing.T) {
	_, err := New(map[string]Config{
		"a": {}, "b": {File: &File{Root: "/x"}, Exec: &Exec{Argv: []string{"x"}}}, "c": {File: &File{Root: "x"}},
		"d": {Exec: &Exec{}}, "e": {Exec: &Exec{Argv: []string{""}}}, "f": {Exec: &Exec{Argv: []string{"x"}, Timeout: -1}},
		"": {File: &File{Root: "/x"}}, "good": {File: &File{Root: "/x"}},
	})
	want := `sink "": it has no name
sink "a": it must be exactly one of file, exec, vault and kubernetes
sink "b": it must be exactly one of file, exec, vault and kubernetes
sink "c": the root "x" must be an absolute path
sink "d": argv must begin with a program
sink "e": argv must begin with a program
sink "f": the timeout -1ns is below zero`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestUnknownSink(t *testing.T) {
	s := mustNew(t, map[string]Config{"ci": {File: &File{Root: t.TempDir()}}, "store": {File: &File{Root: t.TempDir()}}})
	for name, want := range map[string]string{
		"stroe": `there is no sink "stroe" in the configuration (did you mean "store"?)`,
		"vault": `there is no sink "vault" in the configuration (it has ci, store)`,
		"":      `there is no sink "" in the configuration (it has ci, store)`,
	} {
		wantBoth(t, s, desired.Sink{Name: name, Key: "k"}, want)
	}
	wantBoth(t, mustNew(t, nil), desired.Sink{Name: "ci", Key: "k"}, `there is no sink "ci" in the configuration, which has none`)
}

// TestKeys holds for every kind of sink: neither folder nor program is there.
func TestKeys(t *testing.T) {
	s := mustNew(t, map[string]Config{"f": {File: &File{Root: "/nowhere/at/all"}}, "e": {Exec: &Exec{Argv: []string{"/nowhere"}}}})
	for key, want := range map[string]string{
		"": "the key is empty", "/etc/passwd": "cannot begin with /", "..": "the key has a part that is empty", "a/../../b": "the key has a part that is empty",
		"a//b": "the key has a part that is empty", "./a": "the key has a part that is empty", ".": "the key has a part that is empty", "a/": "the key has a part that is empty",
		`a\b`: `cannot hold \`, "a\nb": "what does not print", "a\x00": "what does not print", "a\xff": "what does not print",
	} {
		for _, name := range []string{"f", "e"} {
			wantBoth(t, s, desired.Sink{Name: name, Key: key}, want)
		}
	}
}

func TestNothingToDeliver(t *testing.T) {
	s := mustNew(t, map[string]Config{"f": {File: &File{Root: t.TempDir()}}})
	err := s.Deliver(t.Context(), desired.Sink{Name: "f", Key: "k"}, edge.Secret{})
	wantError(t, err, "there is no secret to deliver")
}

func mustNew(t *testing.T, configs map[string]Config) *Sinks {
	t.Helper()
	s, err := New(configs)
	must.Do(t, err)
	return s
}

func wantBoth(t *testing.T, s *Sinks, where desired.Sink, want string) {
	t.Helper()
	wantError(t, s.Check(where), want)
	wantError(t, s.Deliver(t.Context(), where, secret), want)
}

// wantError also holds every error to never hold a secret.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
	if err != nil && strings.Contains(err.Error(), secret.Reveal()) {
		t.Error("the error holds the secret")
	}
}
