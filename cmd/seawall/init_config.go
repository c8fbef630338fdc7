package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
)

// configFlags are those of seawall init that are about a configuration.
type configFlags struct {
	setup.Options        // Config is the file to write
	source        string // address of the repository; empty: asked of git
}

const configuration = `// The configuration of seawall run. docs/configuration.md has every field.

// The repository of desired state, and the branch to follow.
source: {
	url:    %q
	branch: %q
%s}

// The API with the zones.
platform: %s

// A token with the permissions Zone Read and Zone WAF Write. Here it is in the environment;
// {file: "/path"} names a file that only you can read.
credentials: rulesets: env: %q

// "observe" reports what differs and writes nothing. "apply" applies each commit, and puts
// back what someone changes by hand.
mode: "observe"

schedule: {
	sync:  "*/1 * * * *" // how often to look at git
	sweep: "0 */2 * * *" // each zone is read once in this interval
}

// Rules in the custom phase of a zone may skip its deployments. Each zone is looked at once a day.
bypass: phases: ["http_request_firewall_custom"]

// What Seawall remembers, in a folder of your own. A service has /var/lib/seawall.
state: dir: %q

// Health and metrics.
listen: "127.0.0.1:8710"
`

// writeConfig writes a configuration for the repository in dir, one that works for this user.
func writeConfig(ctx context.Context, t *cli.Terminal, f configFlags, dir string) error {
	if err := f.CheckProfile(); err != nil {
		return err
	}
	state, err := setup.UserState()
	if err != nil {
		return cli.Fail(err, "set XDG_STATE_HOME to a folder of your own")
	}
	from, err := f.followed(ctx, dir)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(configuration, from.url, from.branch, from.rest(), f.platformLine(), setup.EnvRulesetsToken, filepath.Join(state, from.name()))
	if _, problems := schema.LoadConfig(f.Config, []byte(text)); len(desired.Errors(problems)) > 0 {
		return &cli.FileError{Summary: "with these flags the configuration would not be valid", Problems: problems}
	}
	switch err := writeNew(f.Config, []byte(text)); {
	case errors.Is(err, fs.ErrExist):
		return cli.Fail(fmt.Errorf("%s exists already", f.Config), "edit it, or name another file")
	case err != nil:
		return err
	}
	fmt.Fprintf(t.Err, "written  %s\n", f.Config)
	file := cli.Quoted(f.Config)
	_, err = fmt.Fprintf(t.Out, "It follows the branch %s of %s, and only observes.\nNext: seawall doctor --config %s, then: seawall run --config %s\n", from.branch, from.url, file, file)
	return err
}

// followed is what the configuration follows.
type followed struct {
	url, branch string
	path        string // of the folder within the repository, with a slash at its end; empty for all of it
}

// followed is the branch that is checked out in dir, where it is pushed to, or else dir itself.
func (f configFlags) followed(ctx context.Context, dir string) (from followed, err error) {
	if from.branch, err = askGit(ctx, dir, "symbolic-ref", "--short", "HEAD"); err != nil {
		if f.source != "" {
			return followed{url: f.source, branch: "main"}, nil
		}
		return from, cli.Fail(fmt.Errorf("asking git for the branch in %s: %w", dir, err),
			"commit it first: git -C "+cli.Quoted(dir)+" init --initial-branch=main",
			"or name the address of the repository: --source URL")
	}
	from.path, _ = askGit(ctx, dir, "rev-parse", "--show-prefix") // a bare repository has none
	if from.url = f.source; from.url == "" {
		from.url, err = askGit(ctx, dir, "remote", "get-url", "origin")
	}
	if err != nil { // it is pushed nowhere
		if from.url, err = askGit(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
			from.url, err = filepath.Abs(dir)
		}
	}
	if filepath.IsAbs(from.url) {
		from.url = "file://" + from.url
	}
	if address, failed := url.Parse(from.url); failed == nil && strings.HasPrefix(address.Scheme, "http") {
		address.User = nil // what is written and shown holds no credential
		from.url = address.String()
	}
	return from, err
}

// askGit is the first line that git prints about the repository in dir.
func askGit(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = errors.New(cli.OneLine(strings.TrimSpace(string(failed.Stderr))))
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, err
}

// name is that of the state folder.
func (s followed) name() string {
	segments := strings.FieldsFunc(strings.TrimSuffix(s.url+"/"+s.path, "/"), func(r rune) bool { return r == '/' || r == ':' })
	last := segments[max(0, len(segments)-2):] // acme-edge; of a folder on this machine, its name
	if strings.HasPrefix(s.url, "file:") {
		last = segments[len(segments)-1:]
	}
	return strings.ReplaceAll(strings.Join(last, "-"), ".git", "")
}

// rest is what source has beside the address and the branch, as far as it can be guessed.
func (s followed) rest() (text string) {
	if s.path != "" {
		text = fmt.Sprintf("\tpath:   %q\n", strings.TrimSuffix(s.path, "/"))
	}
	home, _ := os.UserHomeDir()
	switch scheme, _, found := strings.Cut(s.url, "://"); {
	case scheme == "file":
	case scheme == "ssh" || !found:
		text += fmt.Sprintf("\t// A key that may read the repository.\n\tauth: ssh: {key: file: %q, known_hosts: %q}\n",
			filepath.Join(home, ".ssh", "id_ed25519"), filepath.Join(home, ".ssh", "known_hosts"))
	default:
		text += fmt.Sprintf("\t// A private repository needs a token that may read it:\n\t// auth: token: file: %q\n", filepath.Join(home, ".config", "seawall", "git-token"))
	}
	return text
}

// platformLine is the platform that the flags name; the vendor's own without them.
func (f configFlags) platformLine() string {
	if preset, known := schema.PresetOf(f.BaseURL); f.BaseURL == "" || known && (f.Profile == "" || f.Profile == preset.Profile) {
		return `preset: "cloudflare"`
	}
	line := fmt.Sprintf("{base_url: %q", f.BaseURL)
	if f.Profile != "" {
		line += fmt.Sprintf(", profile: %q", f.Profile)
	}
	return line + "}"
}
