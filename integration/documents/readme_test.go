package documents

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/fixture"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/soak"
)

// block is a piece of shell in a document and how it is to end.
type block struct {
	line  int // of the first command in the document, for messages
	lines []string
	code  int
}

var (
	tutorialComment = regexp.MustCompile(`^<!-- tutorial(?:: exit (\d+))? -->$`)
	shellFence      = "```sh"
)

// readTutorial returns the blocks of shell that follow a tutorial comment, and
// fails on a comment that nothing follows.
func readTutorial(t *testing.T, text string) []block {
	t.Helper()
	lines := strings.Split(text, "\n")
	var blocks []block
	for i := 0; i < len(lines); i++ {
		match := tutorialComment.FindStringSubmatch(lines[i])
		if match == nil {
			continue
		}
		if i+1 >= len(lines) || lines[i+1] != shellFence {
			t.Fatalf("line %d: no block of shell follows the comment", i+1)
		}
		b := block{line: i + 3}
		_, _ = fmt.Sscan(match[1], &b.code) // empty is zero
		for i += 2; lines[i] != "```"; i++ {
			b.lines = append(b.lines, lines[i])
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// TestReadmeTutorial does what the README says, in one session of a shell, in a
// folder of its own.
func TestReadmeTutorial(t *testing.T) {
	t.Parallel()
	blocks := readTutorial(t, fixture.ReadText(t, filepath.Join(fixture.Root, "README.md")))
	if len(blocks) < 4 {
		t.Fatalf("the README has %d blocks for a tutorial", len(blocks))
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-s")
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(session(t, blocks), "8787", freePort(t)))
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
		if got, want := ends[i][1]+" "+ends[i][2], fmt.Sprint(b.line, " ", b.code); got != want {
			t.Errorf("README.md:%d: line and exit code %s, want %s", b.line, got, want)
		}
	}
	// What the text around the blocks promises.
	for _, promise := range []string{"1 zone: 1 to change", `"PATCH"`, "in sync"} {
		if !strings.Contains(stdout.String(), promise) {
			t.Errorf("the session does not show %q", promise)
		}
	}
	if !strings.Contains(stderr.String()+stdout.String(), "did you mean") {
		t.Error("the mistake is told without a hint")
	}
	if t.Failed() {
		t.Logf("%s%s", stdout.String(), stderr.String())
	}
}

// session is a script that runs the blocks one after the other, each until a
// line of it fails, and says how each ended. A process in the background is
// given the time a person takes to read on.
func session(t *testing.T, blocks []block) string {
	t.Helper()
	repository, err := filepath.Abs(fixture.Root)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("trap 'kill $(jobs -p)' EXIT\n")
	// What the README builds is built in the repository, where most of it is
	// compiled already, and put below the folder of the session. Linking takes long:
	// outside of a soak it is what the same command built for the other tests.
	build := fmt.Sprintf("command go build -C '%s' -o \"$PWD/$3\" \"$4\"", repository)
	if !soak.On {
		build = fmt.Sprintf("mkdir -p \"$(dirname \"$3\")\" && cp '%s' \"$3\"", harness.Seawall(t))
	}
	fmt.Fprintf(&b, "go() { [ \"$1 $2 $4\" = 'build -o ./cmd/seawall' ] && %s; }\n", build)
	for _, block := range blocks {
		b.WriteString("rc=0\n")
		for _, line := range block.lines {
			fmt.Fprintf(&b, "if [ $rc = 0 ]; then\n%s\nrc=$?\nfi\n", line)
		}
		fmt.Fprintf(&b, "echo; echo \"-- line %d ended with $rc\"\n", block.line)
	}
	return strings.Replace(b.String(), "> sim.json &\n", "> sim.json &\nuntil [ -s sim.json ]; do sleep 0.02; done\n", 1)
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
	_, after, _ := strings.Cut(fixture.ReadText(t, filepath.Join(fixture.Root, "README.md")), shellFence+"\n")
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
