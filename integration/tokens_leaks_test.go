package integration

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/soak"
)

// secrets are the values that the platform has issued, as they are and as they
// are easily written. Those that another has taken the place of begin like them.
func (p *platform) secrets() (forms [][]byte) {
	forms = append(forms, []byte(mem.SecretPrefix), []byte(base64.StdEncoding.EncodeToString([]byte(mem.SecretPrefix))[:12]))
	for _, token := range p.Platform.Tokens() {
		forms = append(forms, []byte(token.Value), []byte(base64.StdEncoding.EncodeToString([]byte(token.Value))))
	}
	return forms
}

// nowhere checks that text holds none of them.
func (p *platform) nowhere(what string, text []byte) {
	p.t.Helper()
	for _, form := range p.secrets() {
		if i := bytes.Index(text, form); i >= 0 {
			p.t.Errorf("%s holds a secret, after %q", what, text[max(0, i-80):i])
		}
	}
}

// nowhereBelow checks every file below a folder. Files may come and go meanwhile.
func (p *platform) nowhereBelow(folder string) (searched int) {
	p.t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || entry.Type()&fs.ModeSocket != 0 {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		searched++
		p.nowhere(path, data)
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
	return searched
}

// parrot is a sink that refuses at first and repeats what it was given, on both
// streams; once the folder is there it puts secrets into files.
func parrot(folder string) string {
	const script = `value=$(cat)
if [ -d "$0" ]; then printf %s "$value" >"$0/$SEAWALL_KEY"; exit; fi
echo "no room for $value"; echo "key $SEAWALL_KEY: $value" >&2; exit 1`
	return fmt.Sprintf(`exec: argv: ["/bin/sh", "-c", %q, %q]`, script, folder)
}

// TestNoSecretOfATokenIsTold: no command says a secret that the platform issued,
// and no file of the state folder has one in the clear: not while it waits for a
// sink that repeats it, not when the answer it came in was cut, not in the log of
// a ledger that a daemon has open. A soak tries more bad answers.
func TestNoSecretOfATokenIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range soak.Some(map[string]struct {
		quirks         []string
		sealed, exists int // after the first apply
	}{
		"in order":        {nil, 3, 3},
		"cut":             {[]string{"cut-after=2"}, 2, 3},
		"failed":          {[]string{"error-after=2"}, 2, 3},
		"truncated":       {[]string{"truncate=2"}, 2, 3},
		"truncated twice": {[]string{"truncate=1"}, 0, 3},
		"throttled":       {[]string{"throttle=2"}, 2, 2},
	}, "cut") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "taken")
			f := newTokenForge(t, parrot(folder))
			f.Sink = folder
			f.quirks(test.quirks)
			f.tell("apply", "text").want(t, 4)
			f.quirks(nil)
			if got := len(f.made()); got != test.exists || f.sealed() != test.sealed {
				t.Errorf("%d tokens exist and %d secrets wait, want %d and %d", got, f.sealed(), test.exists, test.sealed)
			}
			f.tellAll()
			f.serve()
			f.resolveByCommand()
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			f.tell("apply", "json").want(t, 0)
			f.ends()
			f.tellAll()
			if soak.On {
				f.serve()
			}
			if searched := f.nowhereBelow(f.State); searched < 5 {
				t.Errorf("only %d files were searched", searched)
			}
		})
	}
}

func (f *tokenForge) quirks(list []string) {
	f.t.Helper()
	if err := f.SetQuirks(list); err != nil {
		f.t.Fatal(err)
	}
}

// sealed counts the secrets that wait.
func (f *tokenForge) sealed() (n int) {
	for _, records := range f.records() {
		for _, r := range records {
			if r.State == diff.TokenConfirmed && !r.Delivered {
				n++
			}
		}
	}
	return n
}

// tell runs a command at its most talkative.
func (f *tokenForge) tell(command, format string) outcome {
	f.t.Helper()
	log := format
	if log == "markdown" {
		log = "text"
	}
	return f.seawall(command, "-o", format, "--log-format", log, "--log-level", "debug")
}

// tellAll runs what says something of tokens, in all formats in a soak, and otherwise in
// one after the other.
func (f *tokenForge) tellAll() {
	f.t.Helper()
	formats, keys := []string{"text", "json", "markdown"}, tokenKeys
	if !soak.On {
		formats, keys = formats[f.told%3:][:1], keys[:1]
	}
	f.told++
	for _, format := range formats {
		for _, command := range []string{"plan", "apply"} {
			if o := f.tell(command, format); o.code == 1 {
				f.t.Errorf("%s -o %s failed: %s", command, format, o.stderr)
			}
		}
	}
	where := []string{"--group", mem.RulesGroup, "--zone", string(mem.FleetZone(1)), "--account", string(mem.Account)}
	for _, key := range keys {
		f.seawall(append([]string{"token", "explain", key}, where...)...).want(f.t, 0)
		f.seawall("token", "resolve", key, "--adopt", "no-such-id", "--retry").want(f.t, 1, "give exactly one")
	}
	f.seawall(append([]string{"token", "who-can", "-o", "json"}, where...)...).want(f.t, 0, tokenKeys...)
	f.seawall("token", "list").want(f.t, 0, tokenKeys[0])
	f.seawall("token", "revoked", "no-such-id").want(f.t, 1)
}

// serve lets a daemon make a run, and searches what it says, what its pages say,
// and what it leaves in files while it has them open and once it is gone.
func (f *tokenForge) serve() {
	f.t.Helper()
	s := &service{t: f.t, dir: f.dir, repo: f.repo, platform: f.platform}
	s.start()
	s.poll("a run ended", func() bool { return len(s.logged("run finished")) > 0 })
	for _, page := range []string{"/", "/healthz", "/readyz", "/metrics"} {
		code, text := s.get(page)
		if code == 0 || text == "" {
			f.t.Errorf("%s does not answer", page)
		}
		f.nowhere(page, []byte(text))
	}
	if _, err := os.Stat(f.ledgerFile() + "-wal"); err != nil {
		f.t.Errorf("the ledger has no log to search: %v", err)
	}
	f.nowhereBelow(f.State)
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
	f.nowhere("the daemon", []byte(s.output()))
	f.nowhereBelow(f.State)
}
