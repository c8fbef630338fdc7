package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"


	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestTutorialCommandsExist holds each command of the tutorials about import to the command
// line: it exists, and has these flags and arguments. The scripts import*.txtar and
// absorb.txtar run them.
func TestTutorialCommandsExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../docs/adopt-a-fleet.md", "../../docs/from-terraform.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
				if words := strings.Fields(line); len(words) > 1 && words[0] == "seawall" {
					n++
					checkCommand(t, name, words[1:])
				}
			}
		}
		if n < 3 {
			t.Errorf("%s: %d commands", name, n)
		}
	}
}

func checkCommand(t *testing.T, name string, words []string) {
	t.Helper()
	root := newRoot(&cli.Terminal{Out: io.Discard, Err: io.Discard})
	cmd, args, err := root.Find(words)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil && cmd.Args != nil {
		err = cmd.Args(cmd, cmd.Flags().Args())
	}
	if err != nil || cmd == root {
		t.Errorf("%s: seawall %s: %v", name, strings.Join(words, " "), err)
	}
}

