package documents

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"mvdan.cc/sh/v3/syntax"
)

// commandPage is what the commands of a document need. The zero value is right for a page
// whose commands all end with 0 in the prepared folder.
type commandPage struct {
	elsewhere string   // why none is run here; the test that runs them
	long      bool     // run with the soak alone
	before    string   // shell
	other     []string // what the page says, and what takes its place here, beside what does on each page
	spans     bool     // commands within lines are run too, in the order of the page
	commands  map[string]shown
}

// shown is what one command of a page needs, and what it comes to.
type shown struct {
	before string // shell
	code   int
	says   string // regular expression of its output
	until  string // of a command that never ends by itself: a regular expression of what it says once it works
	not    string // why it is not run
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^[ \t]*```(\\w*)\n(.*?)^[ \t]*```")
	commandSpan = regexp.MustCompile("`(seawall [^`\n]+)`")
	shellPrompt = regexp.MustCompile(`(?m)^\s*\$ `)
)

// shownCommands returns the commands of a document in its order: each statement of its blocks
// of shell, and with spans those within its lines that are commands of Seawall.
func shownCommands(t *testing.T, text string, spans bool) (commands []string) {
	t.Helper()
	rest := text
	within := func(prose string) {
		if !spans {
			return
		}
		for _, span := range commandSpan.FindAllStringSubmatch(prose, -1) {
			commands = append(commands, span[1])
		}
	}
	for {
		at := fencedBlock.FindStringSubmatchIndex(rest)
		if at == nil {
			within(rest)
			return commands
		}
		within(rest[:at[0]])
		kind, block := rest[at[2]:at[3]], rest[at[4]:at[5]]
		rest = rest[at[1]:]
		if kind == "sh" {
			commands = append(commands, statements(t, shellPrompt.ReplaceAllString(block, ""))...)
		}
	}
}

// statements are the statements of a script as they are written, without comments.
func statements(t *testing.T, script string) (all []string) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		t.Fatalf("%v in\n%s", err, script)
	}
	for _, statement := range file.Stmts {
		all = append(all, script[statement.Pos().Offset():statement.End().Offset()])
	}
	return all
}

// TestCommandsOfDocuments runs the commands of the documents, page by page, as they are
// written: in a clone of a repository that declares shop.example, beside its configuration,
// with the simulator as the platform. What belongs to a machine has a stand-in: systemctl
// starts and stops a process. Only addresses, folders and ids are other ones.
func TestCommandsOfDocuments(t *testing.T) {
	t.Parallel()
	var documents []string
	for _, pattern := range []string{"README.md", "docs/*.md", "deploy/README.md"} {
		found, err := filepath.Glob(filepath.Join(harness.Root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		documents = append(documents, found...)
	}
	ran := 0
	for _, document := range documents {
		name, err := filepath.Rel(harness.Root, document)
		must.Do(t, err)
		page := commandPages[name]
		commands := shownCommands(t, harness.ReadText(t, document), page.spans)
		for command := range page.commands {
			if !slices.Contains(commands, command) {
				t.Errorf("%s has no command %q", name, command)
			}
		}
		if len(commands) == 0 || page.elsewhere != "" {
			continue
		}
		ran += len(commands)
		if page.long && !soak.On {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newSession(t, page).run(commands, page.commands)
		})
	}
	if ran < 100 {
		t.Errorf("only %d commands are found", ran)
	}
}

// commandSession is one session of a shell, with what the pages take to be there.
type commandSession struct {
	t        *testing.T
	dir      string
	platform *harness.Platform
	repo     *gittest.Repository
	before   string
	in       *strings.Replacer // from what pages say to what is there
}

const commandZones = `package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": {id: "00000000000000000000000000000a01", waf: core: {paranoia: %d, unmanaged: "remove"}}
}
token: "ci-dns": {
	policies: [{
		effect: "allow"
		resources: "com.vendor.api.account.0123456789abcdef0123456789abcdef": "com.vendor.api.account.zone.*": "*"
		permission_groups: [{id: "4755a26eedb94da69e1066d98aa820be", name: "DNS Write"}]
	}]
	expires_on: "2099-01-01T00:00:00Z"
	sink: {name: "ci", key: "dns"}
}
`

// newSession prepares the folder: etc with configuration and credentials, and work, a clone of
// the repository. Its newest commit declares another paranoia level than the one before it.
func newSession(t *testing.T, page commandPage) *commandSession {
	t.Helper()
	s := &commandSession{t: t, dir: t.TempDir(), platform: harness.StartPlatform(t, sim.Config{Profile: mem.Extended}), repo: gittest.New(t), before: page.before}
	s.repo.Commit("edge.cue", fmt.Sprintf(commandZones, 2))
	s.repo.Git("config", "receive.denyCurrentBranch", "ignore")
	for _, folder := range []string{"bin", "etc", "state"} {
		must.Do(t, os.Mkdir(filepath.Join(s.dir, folder), 0o700))
	}
	for name, text := range standIns {
		must.Do(t, os.WriteFile(filepath.Join(s.dir, "bin", name), []byte("#!/bin/bash\n"+text), 0o755))
	}
	listen := "127.0.0.1:" + freePort(t)
	harness.Write(t, s.dir, "etc/rulesets.token", s.platform.RulesetsToken.Reveal())
	harness.Write(t, s.dir, "etc/tokens.token", s.platform.TokensToken.Reveal())
	harness.Write(t, s.dir, "etc/hook-secret", "the-secret-of-a-webhook-0123456789")
	harness.Write(t, s.dir, "etc/config.cue", fmt.Sprintf(`source: url: "file://%[2]s"
platform: base_url: %[3]q
credentials: {rulesets: file: "%[1]s/etc/rulesets.token", tokens: file: "%[1]s/etc/tokens.token"}
sinks: ci: file: root: "%[1]s/secrets"
schedule: {sync: "@every 1s", sweep: "@every 1h"}
waves: [{labels: tier: "canary", soak: "1h"}]
hooks: hub: {kind: "generic", secret: file: "%[1]s/etc/hook-secret"}
state: dir: "%[1]s/state"
listen: %[4]q
`, s.dir, s.repo.Dir, s.platform.BaseURL, listen))
	s.in = strings.NewReplacer(append(page.other,
		"https://api.example.com/client/v4", s.platform.BaseURL, "http://127.0.0.1:8787/client/v4", s.platform.BaseURL,
		"http://127.0.0.1:8710", "http://"+listen, "https://seawall.example", "http://"+listen, "127.0.0.1:8787", "127.0.0.1:$port", "my-edge", "../my-edge",
		"/dev/stdin", s.dir+"/etc/rulesets.token", "/etc/seawall", s.dir+"/etc", "/var/lib/seawall", s.dir+"/state", "/var/backups/seawall", s.dir+"/backups",
		"--config config.cue", "--config "+s.dir+"/etc/config.cue", "./config.cue", s.dir+"/etc/config.cue",
		"1a2b3c4", "$(git rev-parse HEAD)", "COMMIT", "$(git rev-parse HEAD)", "1204:5f2c…", "$(head_of_history)", "--head HEAD", "--head $(head_of_history)",
		" DIR", " .", " URL", " "+s.platform.BaseURL, " NAME", " shop.example", " TEXT", " INC-1",
		" KEY", " ci-dns", " ID", " $(id_of_token)", "ed17574386854bf78a67040be0a770b0", "$(id_of_token)",
	)...)
	return s
}

// standIns are programs that belong to a machine: what the pages use them for is done.
var standIns = map[string]string{
	"systemctl": `
end() { # the file goes once the process has ended
	[ -e "$HOME/pid" ] && kill "$(cat "$HOME/pid")"
	for _ in {1..1200}; do [ -e "$HOME/pid" ] || return 0; sleep 0.05; done
	return 1
}
begin() {
	(seawall run --config "$SEAWALL_CONFIG" >"$HOME/log" 2>&1 & echo $! >"$HOME/pid"; wait $!; rm "$HOME/pid") >/dev/null 2>&1 &
	for _ in {1..1200}; do
		grep --quiet '"msg":"serving"' "$HOME/log" && return 0
		sleep 0.05
	done
	cat "$HOME/log"
	return 1
}
case "$*" in
"start seawall") begin ;;
"stop seawall") end ;;
"restart seawall") end; begin ;;
*) echo "systemctl $*"; exit 1 ;;
esac`,
	"sudo":      `[ "$1 $2" = "-u seawall" ] && shift 2; exec "$@"`,
	"kubectl":   `[ "$1 $2 $3 $4 $5" = "exec -n seawall deploy/seawall --" ] && shift 5 && exec "$@"`,
	"terraform": `[ "$*" = "show -json plan.out" ] && cat plan.out`,
	"zstdcat":   `exec cat "$@"`,
	"jq":        `for jq in /usr/bin/jq /opt/homebrew/bin/jq; do [ -x $jq ] && exec $jq "$@"; done; exec cat`,
	"make":      fmt.Sprintf(`PATH="${PATH#*:}" exec make -C %q --dry-run "$@" >/dev/null`, mustAbs(harness.Root)),
	// What the pages run by go takes minutes, or is the reader's own.
	"go": fmt.Sprintf(`case "$*" in
"test ./...") curl --silent --output /dev/null --write-out '%%{http_code}' "$EDGE_URL/zones/00000000000000000000000000000a01/firewall/rules" --header "Authorization: Bearer $SEAWALL_RULESETS_TOKEN" ;;
"test ./"* | "run ./"*) ls %q/"$2"/*.go >/dev/null ;;
"tool pprof "*) ;;
*) exit 1 ;;
esac`, mustAbs(harness.Root)),
}

func mustAbs(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return absolute
}

const (
	sessionBegins = `
trap 'systemctl stop seawall; kill $(jobs -p) 2>/dev/null' EXIT
head_of_history() { seawall history verify -o json | sed -n 's/.*"head": *"\([^"]*\)".*/\1/p'; }
id_of_token() { seawall token list | awk '$1 == "ci-dns" { print $2 }'; }
in_sync() { # with the commit that was pushed last: the one before may be, too
	for _ in {1..300}; do
		seawall status 2>/dev/null | grep -q "$(git rev-parse --short=12 origin/main) in force" && seawall status >/dev/null 2>&1 && return 0
		sleep 0.5
	done
	return 1
}
end_when() { # PATTERN COMMAND…: ends a command once it says something
	"${@:2}" >"$HOME/out" 2>&1 & local pid=$!
	for _ in {1..3000}; do grep -Eq "$1" "$HOME/out" && break; sleep 0.02; done
	kill $pid; wait $pid; local code=$?
	cat "$HOME/out"
	return $code
}
apply_two() { # both commits are applied, the first one without and the second one with another level
	seawall apply --yes && sed -i 's/paranoia: 2/paranoia: 3/' edge.cue && git commit --quiet --all --message "Raise the level" && git push --quiet && seawall apply --yes
}
`
	commandBegins = "-- begins "
	commandEnds   = "-- ended with "
)

// script is what the shell runs for these commands.
func (s *commandSession) script(commands []string, details map[string]shown) string {
	var b strings.Builder
	b.WriteString(sessionBegins)
	fmt.Fprintf(&b, "port=%s\n{ git clone --quiet %s . && seawall token init && %s\n} >\"$HOME/prepared\" 2>&1 || { cat \"$HOME/prepared\"; exit 1; }\n", freePort(s.t), s.repo.Dir, cmp.Or(s.in.Replace(s.before), "true"))
	for i, command := range commands {
		detail, line := details[command], s.in.Replace(command)
		if detail.not != "" {
			line = "true"
		}
		if detail.until != "" {
			line = "end_when '" + detail.until + "' " + line
		}
		fmt.Fprintf(&b, "{ %s\n} >\"$HOME/prepared\" 2>&1 || { cat \"$HOME/prepared\"; exit 1; }\n", cmp.Or(s.in.Replace(detail.before), "true"))
		fmt.Fprintf(&b, "echo '%s%d'\n%s\nrc=$?; echo; echo \"%s$rc\"\n", commandBegins, i, line, commandEnds)
	}
	return b.String()
}

func (s *commandSession) run(commands []string, details map[string]shown) {
	s.t.Helper()
	work := filepath.Join(s.dir, "work")
	must.Do(s.t, os.Mkdir(work, 0o755))
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Minute)
	defer cancel()
	harness.Write(s.t, s.dir, "script", s.script(commands, details))
	shell := exec.CommandContext(ctx, "bash", filepath.Join(s.dir, "script"))
	shell.Dir, shell.WaitDelay = work, 5*time.Second
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.Env = append(append(os.Environ(), gittest.Env...), "PATH="+filepath.Join(s.dir, "bin")+":"+filepath.Dir(harness.Seawall(s.t))+":"+os.Getenv("PATH"), "HOME="+s.dir,
		"NO_COLOR=1", "XDG_STATE_HOME="+s.dir, "SEAWALL_CONFIG="+filepath.Join(s.dir, "etc", "config.cue"),
		"SEAWALL_RULESETS_TOKEN="+s.platform.RulesetsToken.Reveal(), "SEAWALL_TOKENS_TOKEN="+s.platform.TokensToken.Reveal())
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	if err := shell.Run(); err != nil {
		s.t.Fatalf("%v\n%s", err, out.String())
	}
	s.check(commands, details, out.String())
}

// check compares what the commands came to.
func (s *commandSession) check(commands []string, details map[string]shown, out string) {
	s.t.Helper()
	parts := strings.Split(out, commandBegins)[1:]
	if len(parts) != len(commands) {
		s.t.Fatalf("%d of %d commands began:\n%s", len(parts), len(commands), out)
	}
	for i, command := range commands {
		said, end, _ := strings.Cut(parts[i], commandEnds)
		_, said, _ = strings.Cut(said, "\n")
		detail, code := details[command], 0
		if _, err := fmt.Sscan(end, &code); err != nil {
			s.t.Fatalf("%s: %v\n%s", command, err, out)
		}
		if code != detail.code || !regexp.MustCompile(detail.says).MatchString(said) {
			s.t.Errorf("%s\nended with %d, want %d and %q:\n%s", command, code, detail.code, detail.says, said)
		} else if testing.Verbose() {
			s.t.Logf("%s\n%s", command, said)
		}
	}
}
