package daemon

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// forge is a repository with one good commit, and a folder for the files that a
// configuration names.
type forge struct {
	*gittest.Repository
	t        *testing.T
	dir      string
	platform *harness.Platform
}

func newForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{gittest.New(t), t, t.TempDir(), harness.StartPlatform(t, harness.Fleet(2))}
	f.Repository.Commit("edge.cue", harness.Declare(2, 25))
	return f
}

// file writes a file that only its owner may read, and returns its quoted path.
func (f *forge) file(name, content string) string {
	f.t.Helper()
	harness.Write(f.t, f.dir, name, content)
	return fmt.Sprintf("%q", filepath.Join(f.dir, name))
}

// plan runs `seawall plan` over a source. Each run begins without a copy of the
// repository.
func (f *forge) plan(source string, env ...string) harness.Outcome {
	f.t.Helper()
	harness.Write(f.t, f.dir, "config.cue", fmt.Sprintf("source: {%s}\nplatform: base_url: %q\ncredentials: rulesets: env: \"PLATFORM_TOKEN\"\nstate: dir: %q\n",
		source, f.platform.BaseURL, f.t.TempDir()))
	env = append(env, "PLATFORM_TOKEN="+f.platform.RulesetsToken.Reveal())
	return harness.Run(f.t, env, "plan", "--config", filepath.Join(f.dir, "config.cue"))
}

const wantPlan = "2 zones: 2 to change"

// TestPlanOverHTTP: a password or a token opens the repository, another one is
// told without being shown, though this server repeats it.
func TestPlanOverHTTP(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	private, token := f.HTTP("ada", "s3cret-lock"), f.HTTP("x-access-token", "t0ken-lock")
	password := func(value string) string {
		return fmt.Sprintf(`auth: basic: {username: "ada", password: file: %s}`, f.file(fmt.Sprint("password-", len(value)), value+"\n"))
	}
	tests := []struct {
		name, url, auth string
		code            int
		says            []string
	}{
		{"password", private, password("s3cret-lock"), 0, []string{wantPlan}},
		{"token", token, `auth: token: env: "GIT_TOKEN"`, 0, []string{wantPlan}},
		{"wrong password", private, password("s3cret-guess"), 1, []string{"fetching refs/heads/main of http://127.0.0.1", "hint: check source.auth: the credential must be set"}},
		{"missing password", private, `auth: basic: {username: "ada", password: env: "NOT_SET"}`, 1, []string{"source.auth: environment variable NOT_SET is not set"}},
		{"password in the address", strings.Replace(private, "//", "//ada:s3cret-lock@", 1), "", 1, []string{"config.cue:1:", "source.url: the address contains a password"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &forge{f.Repository, t, f.dir, f.platform}
			o := f.plan(fmt.Sprintf("url: %q, %s", test.url, test.auth), "GIT_TOKEN=t0ken-lock")
			o.Want(t, test.code, test.says...)
			o.WantNo(t, "s3cret", "t0ken", f.platform.RulesetsToken.Reveal())
		})
	}
}

// TestPlanOverSSH: the server's key has to be known and the client's allowed;
// anything else is told, and no file of the user's own stands in.
func TestPlanOverSSH(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	key, locked, stranger := gittest.NewKey(t), gittest.NewLockedKey(t, "s3cret-phrase"), gittest.NewKey(t)
	address, host := f.SSH("git", key.Public)
	lockedAddress, lockedHost := f.SSH("deploy", locked.Public)
	_, port, err := net.SplitHostPort(address)
	must.Do(t, err)
	url, lockedURL := "ssh://git@"+address+f.Dir, "ssh://"+lockedAddress+f.Dir
	hosts := f.file("known_hosts", gittest.KnownHosts(address, host)+gittest.KnownHosts(lockedAddress, lockedHost))
	impostor := f.file("impostor", gittest.KnownHosts(address, stranger.Public))
	unlisted := f.file("unlisted", gittest.KnownHosts("git.example:22", host))
	keyFile, lockedFile, strangerFile := f.file("key", key.PEM), f.file("locked", locked.PEM), f.file("stranger", stranger.PEM)
	phrase := func(value string) string { return fmt.Sprintf(`user: "deploy", passphrase: env: %q`, value) }
	tests := []struct {
		name, url, key, hosts string
		code                  int
		says                  []string
	}{
		{"known key", url, keyFile, hosts, 0, []string{wantPlan}},
		{"short address", "git@127.0.0.1:" + port + ":" + f.Dir, keyFile, hosts, 0, []string{wantPlan}},
		{"locked key", lockedURL, lockedFile + ", " + phrase("PHRASE"), hosts, 0, []string{wantPlan}},
		{"wrong passphrase", lockedURL, lockedFile + ", " + phrase("WRONG_PHRASE"), hosts, 1, []string{"the passphrase does not decrypt the SSH key", "hint: "}},
		{"another host key", url, keyFile, impostor, 1, []string{"the server's host key differs from known hosts", "hint: this may be an attack"}},
		{"unknown host", url, keyFile, unlisted, 1, []string{"known hosts do not list the server", "it shows the key ssh-ed25519 SHA256:", "hint: compare this with the fingerprint"}},
		{"no known hosts", url, keyFile, fmt.Sprintf("%q", filepath.Join(f.dir, "nowhere")), 1, []string{"known hosts"}},
		{"unknown key", url, strangerFile, hosts, 1, []string{"does not know the key", "hint: add the public key"}},
		{"missing repository", url + "x", keyFile, hosts, 1, []string{"edge.gitx"}},
	}
	for _, test := range tests {
		if !soak.On && slices.Contains([]string{"short address", "unknown host", "no known hosts", "missing repository"}, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			f := &forge{f.Repository, t, f.dir, f.platform}
			o := f.plan(fmt.Sprintf("url: %q, auth: ssh: {key: %s, known_hosts: %s}", test.url, test.key, test.hosts),
				"PHRASE=s3cret-phrase", "WRONG_PHRASE=s3cret-guess")
			o.Want(t, test.code, test.says...)
			o.WantNo(t, "s3cret", "PRIVATE KEY", strings.Split(key.PEM, "\n")[1], f.platform.RulesetsToken.Reveal())
		})
	}
}

// TestNothingIsFetchedInTheClear: a credential does not leave the machine over
// plain HTTP; the configuration says so before anything is sent.
func TestNothingIsFetchedInTheClear(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	o := f.plan(`url: "http://git.example/edge.git", auth: token: env: "GIT_TOKEN"`, "GIT_TOKEN=t0ken")
	o.Want(t, 1, "config.cue:1:", "source.url: credentials would be sent unencrypted", "hint: use https")
	o.WantNo(t, "t0ken")
	if calls := f.platform.Calls(); len(calls) != 0 {
		t.Errorf("the platform was asked: %v", calls)
	}
}
