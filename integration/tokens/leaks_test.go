package tokens

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
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// secrets are the values that the platform has issued, as they are and as they
// are easily written. Those that another has taken the place of begin like them.
func secrets(p *harness.Platform) (forms [][]byte) {
	forms = append(forms, []byte(mem.SecretPrefix), []byte(base64.StdEncoding.EncodeToString([]byte(mem.SecretPrefix))[:12]))
	for _, token := range p.Platform.Tokens() {
		forms = append(forms, []byte(token.Value), []byte(base64.StdEncoding.EncodeToString([]byte(token.Value))))
	}
	return forms
}

// nowhere checks that text holds none of them.
func nowhere(p *harness.Platform, what string, text []byte) {
	p.T.Helper()
	for _, form := range secrets(p) {
		if i := bytes.Index(text, form); i >= 0 {
			p.T.Errorf("%s holds a secret, after %q", what, text[max(0, i-80):i])
		}
	}
}

// nowhereBelow checks every file below a folder. Files may come and go meanwhile.
func nowhereBelow(p *harness.Platform, folder string) (searched int) {
	p.T.Helper()
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
		nowhere(p, path, data)
		return err
	})
	if err != nil {
		p.T.Error(err)
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
			f.tell("apply", "text").Want(t, 4)
			f.quirks(nil)
			if got := len(made(f.tokenWorld.Platform)); got != test.exists || f.sealed() != test.sealed {
				t.Errorf("%d tokens exist and %d secrets wait, want %d and %d", got, f.sealed(), test.exists, test.sealed)
			}
			f.tellAll()
			f.serve()
			f.resolveByCommand()
			must.Do(t, os.Mkdir(folder, 0o700))
			f.tell("apply", "json").Want(t, 0)
			f.ends()
			f.tellAll()
			if soak.On {
				f.serve()
			}
			if searched := nowhereBelow(f.tokenWorld.Platform, f.State); searched < 5 {
				t.Errorf("only %d files were searched", searched)
			}
		})
	}
}

func (f *tokenForge) quirks(list []string) {
	f.T.Helper()
	must.Do(f.T, f.SetQuirks(list))
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
func (f *tokenForge) tell(command, format string) harness.Outcome {
	f.T.Helper()
	log := format
	if log == "markdown" {
		log = "text"
	}
	return f.seawall(command, "-o", format, "--log-format", log, "--log-level", "debug")
}

// tellAll runs what says something of tokens, in all formats in a soak, and otherwise in
// one after the other.
func (f *tokenForge) tellAll() {
	f.T.Helper()
	formats, keys := []string{"text", "json", "markdown"}, tokenKeys
	if !soak.On {
		formats, keys = formats[f.told%3:][:1], keys[:1]
	}
	f.told++
	for _, format := range formats {
		for _, command := range []string{"plan", "apply"} {
			if o := f.tell(command, format); o.Code == 1 {
				f.T.Errorf("%s -o %s failed: %s", command, format, o.Stderr)
			}
		}
	}
	where := []string{"--group", mem.RulesGroup, "--zone", mem.FleetZone(1).String(), "--account", string(mem.Account)}
	for _, key := range keys {
		f.seawall(append([]string{"token", "explain", key}, where...)...).Want(f.T, 0)
		f.seawall("token", "resolve", key, "--adopt", "no-such-id", "--retry").Want(f.T, 1, "give exactly one")
	}
	f.seawall(append([]string{"token", "who-can", "-o", "json"}, where...)...).Want(f.T, 0, tokenKeys...)
	f.seawall("token", "list").Want(f.T, 0, tokenKeys[0])
	f.seawall("token", "revoked", "no-such-id").Want(f.T, 1)
}

// serve lets a daemon make a run, and searches what it says, what its pages say,
// and what it leaves in files while it has them open and once it is gone.
func (f *tokenForge) serve() {
	f.T.Helper()
	s := &harness.Service{T: f.T, Dir: f.dir, Repo: f.repo, Platform: f.Platform}
	s.Start()
	s.Poll("a run ended", func() bool { return s.Runs() > 0 })
	for _, page := range []string{"/", "/healthz", "/readyz", "/metrics"} {
		code, text := s.Get(page)
		if code == 0 || text == "" {
			f.T.Errorf("%s does not answer", page)
		}
		nowhere(f.tokenWorld.Platform, page, []byte(text))
	}
	if _, err := os.Stat(f.ledgerFile() + "-wal"); err != nil {
		f.T.Errorf("the ledger has no log to search: %v", err)
	}
	nowhereBelow(f.tokenWorld.Platform, f.State)
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	nowhere(f.tokenWorld.Platform, "the daemon", []byte(s.Output()))
	nowhereBelow(f.tokenWorld.Platform, f.State)
}
