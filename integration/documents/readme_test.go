package documents

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
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
)

// block is a piece of shell in a document.
type block struct {
	line  int // of the first command in the document, for messages
	lines []string
}

const (
	tutorialComment = "<!-- tutorial -->"
	shellFence      = "```sh"
)

// readTutorial returns the blocks of shell that follow a tutorial comment, and
// fails on a comment that nothing follows.
func readTutorial(t *testing.T, text string) []block {
	t.Helper()
	lines := strings.Split(text, "\n")
	var blocks []block
	for i := 0; i < len(lines); i++ {
		if lines[i] != tutorialComment {
			continue
		}
		if i+1 >= len(lines) || lines[i+1] != shellFence {
			t.Fatalf("line %d: no block of shell follows the comment", i+1)
		}
		b := block{line: i + 3}
		for i += 2; lines[i] != "```"; i++ {
			b.lines = append(b.lines, lines[i])
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// afterwards are commands that have an effect elsewhere, and what the reader sees before he
// goes on: the reader takes a few seconds, the script waits for the effect.
var afterwards = map[string]string{
	"bin/seawall demo --serve": `until bin/seawall why shop.example --config seawall-demo/config.cue 2>&1 | grep 'in sync'; do sleep 0.1; done`,
	"git push":                 `until seawall status | grep "$(git rev-parse --short=12 HEAD) in force" && seawall why shop.example | grep 'in sync'; do sleep 0.1; done`,
	"sh ../by-hand.sh":         `until seawall history | grep 'enabled  *false → true'; do sleep 0.1; done`,
}

// TestReadmeTutorial does what the README says, in a folder of its own. What runs in the first
// terminal runs in the background here, and ends as Ctrl-C ends it.
func TestReadmeTutorial(t *testing.T) {
	t.Parallel()
	blocks := readTutorial(t, harness.ReadText(t, filepath.Join(harness.Root, "README.md")))
	if len(blocks) < 4 {
		t.Fatalf("the README has %d blocks for a tutorial", len(blocks))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-s")
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), gittest.Env...), "NO_COLOR=1")
	cmd.Stdin = strings.NewReader(session(t, blocks))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel, cmd.WaitDelay = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }, 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	ends := regexp.MustCompile(`(?m)^-- line (\d+) ended with (\d+)$`).FindAllStringSubmatch(stdout.String(), -1)
	if len(ends) != len(blocks) {
		t.Fatalf("%d of %d blocks ended\n%s%s", len(ends), len(blocks), stdout.String(), stderr.String())
	}
	for i, b := range blocks {
		if got, want := ends[i][1]+" "+ends[i][2], fmt.Sprint(b.line, " 0"); got != want {
			t.Errorf("README.md:%d: line and exit code %s, want %s", b.line, got, want)
		}
	}
	// What the text around the blocks promises.
	for _, promise := range []string{"1 zone: 1 to change", "strengthens", "the managed ruleset is switched off", "-- the demo ended with 0, and its folder is gone"} {
		if !strings.Contains(stdout.String(), promise) {
			t.Errorf("the session does not show %q", promise)
		}
	}
	if t.Failed() {
		t.Logf("%s%s", stdout.String(), stderr.String())
	}
}

// session is a script that runs the blocks one after the other, each until a line of it fails,
// and says how each ended.
func session(t *testing.T, blocks []block) string {
	t.Helper()
	repository, err := filepath.Abs(harness.Root)
	must.Do(t, err)
	var b strings.Builder
	// What the README builds is built in the repository, where most of it is
	// compiled already, and put below the folder of the session. Linking takes long:
	// outside of a soak it is what the same command built for the other tests.
	build := fmt.Sprintf("command go build -C '%s' -o \"$PWD/$3\" \"$4\"", repository)
	if !soak.On {
		build = fmt.Sprintf("mkdir -p \"$(dirname \"$3\")\" && cp '%s' \"$3\"", harness.Seawall(t))
	}
	fmt.Fprintf(&b, "top=$PWD\ngo() { [ \"$1 $2 $4\" = 'build -o ./cmd/seawall' ] && %s; }\n", build)
	for _, block := range blocks {
		b.WriteString("rc=0\n")
		for _, line := range block.lines {
			run := line
			if strings.HasSuffix(line, "--serve") {
				run += " >demo.log 2>&1 &\ndemo=$!"
			}
			fmt.Fprintf(&b, "if [ $rc = 0 ]; then\n%s\nrc=$?\nfi\n", run)
			for command, wait := range afterwards {
				if strings.HasSuffix(line, command) {
					fmt.Fprintln(&b, wait)
				}
			}
		}
		fmt.Fprintf(&b, "echo; echo \"-- line %d ended with $rc\"\n", block.line)
	}
	b.WriteString("cd \"$top\"; kill -INT $demo; wait $demo; rc=$?; [ -e seawall-demo ] && ls -R seawall-demo || echo \"-- the demo ended with $rc, and its folder is gone\"; cat demo.log >&2\n")
	return b.String()
}

// TestReadmePlan: the plan of the README is that of its declaration, and the tutorial begins with
// that declaration.
func TestReadmePlan(t *testing.T) {
	t.Parallel()
	readme := harness.ReadText(t, filepath.Join(harness.Root, "README.md"))
	_, rest, _ := strings.Cut(readme, "```cue\n")
	declared, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```\n")
	plan, _, found := strings.Cut(rest, "```")
	if served := harness.ReadText(t, filepath.Join(harness.Root, "cmd/seawall/internal/demo/served.cue")); !found || declared != served {
		t.Fatalf("the README declares\n%s\nand seawall demo --serve\n%s", declared, served)
	}
	seed := mem.VendorSeed()
	for i := range seed.Accounts[0].Rulesets {
		if r := &seed.Accounts[0].Rulesets[i]; r.ID == mem.CoreRuleset {
			r.Name = "Cloudflare OWASP Core Ruleset"
		}
	}
	p := harness.StartPlatform(t, sim.Config{Seed: seed, Profile: mem.Vendor, Vendor: "cloudflare"})
	dir := t.TempDir()
	harness.Write(t, dir, "edge.cue", declared)
	out := harness.Run(t, []string{"SEAWALL_RULESETS_TOKEN=" + p.RulesetsToken.Reveal()}, "plan", "--dir", dir, "--profile", "extended", "--base-url", p.BaseURL)
	if out.Code != 0 || !strings.HasPrefix(out.Stdout, plan) {
		t.Errorf("%d\n%s\nis not what the README shows:\n%s\n%s", out.Code, out.Stdout, plan, out.Stderr)
	}
}

// freePort finds a port that nobody listens on. It is below those that systems give to
// connections and to whoever asks for any port: other tests do so all the time.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(10_000 + rand.IntN(20_000))
		if listener, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestReadmeBeginsWithTheDemo: the first two commands of the README are those
// that need nothing.
func TestReadmeBeginsWithTheDemo(t *testing.T) {
	_, after, _ := strings.Cut(harness.ReadText(t, filepath.Join(harness.Root, "README.md")), shellFence+"\n")
	first, _, _ := strings.Cut(after, "```")
	var commands []string
	for line := range strings.Lines(first) {
		command, _, _ := strings.Cut(line, "#")
		commands = append(commands, strings.TrimSpace(command))
	}
	if want := []string{"go run ./cmd/seawall demo", "go test ./..."}; !slices.Equal(commands, want) {
		t.Errorf("the first commands are %q, want %q", commands, want)
	}
}
