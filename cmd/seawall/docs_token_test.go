package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seawall-dev/seawall/integration/must"
)

// tokenDoc shows what the script token-docs is held to: its file, and each
// command with its answer.
func tokenDoc(t *testing.T) string {
	archive, err := txtar.ParseFile("testdata/script/token-docs.txtar")
	must.Do(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```cue\n%s```\n", files["edge/edge.cue"])
	scriptStep := regexp.MustCompile(`(?m)^exits (\d+) (seawall .*)\ncmp stdout \.\./(\S+)$`)
	for _, step := range scriptStep.FindAllStringSubmatch(string(archive.Comment), -1) {
		code, command, want := step[1], step[2], step[3]
		fmt.Fprintf(&b, "\n```console\n$ %s\n%s```\n", command, files[want])
		if code != "0" {
			fmt.Fprintf(&b, "\nThe exit code is %s.\n", code)
		}
	}
	return b.String()
}
