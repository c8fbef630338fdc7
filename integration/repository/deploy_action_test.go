package repository

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestActionUsesItsScripts: the action gives its inputs to scripts by the environment, where
// no text of theirs becomes a command.
func TestActionUsesItsScripts(t *testing.T) {
	action := harness.ReadText(t, filepath.Join(planAction(t), "action.yml"))
	for _, name := range []string{"install.sh", "plan.sh", "comment.sh"} {
		if !strings.Contains(action, "$GITHUB_ACTION_PATH/"+name) {
			t.Errorf("the action does not run %s", name)
		}
	}
	for _, line := range strings.Split(action, "\n") {
		if run, ok := strings.CutPrefix(strings.TrimSpace(line), "run:"); ok && strings.Contains(run, "${{") {
			t.Errorf("an input becomes part of a command: %s", line)
		}
	}
	if pinned := regexp.MustCompile(`uses: \S+@[0-9a-f]{40}`); strings.Contains(uncommented(action), "uses:") && !pinned.MatchString(action) {
		t.Error("the action uses another that is not named by its commit")
	}
}

// TestActionInstallsWhatItChecked: a binary is installed only if its checksum is that of the
// release or, where one is given, that of the caller.
func TestActionInstallsWhatItChecked(t *testing.T) {
	const binary = "#!/bin/sh\necho seawall of the release\n"
	file := "seawall-" + runtime.GOOS + "-" + runtime.GOARCH
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(binary)))
	other := fmt.Sprintf("%x", sha256.Sum256([]byte("other")))
	for name, test := range map[string]struct {
		version, sums, pinned string
		ok                    bool
	}{
		"of the release": {"v1.2.3", sum + "  " + file + "\n" + other + "  seawall-plan9-mips\n", "", true},
		"of the caller":  {"v1.2.3", other + "  " + file + "\n", sum, true},
		"damaged":        {"v1.2.3", other + "  " + file + "\n", "", false},
		"replaced":       {"v1.2.3", sum + "  " + file + "\n", other, false},
		"not listed":     {"v1.2.3", sum + "  seawall-plan9-mips\n", "", false},
		"no such tag":    {"v9.9.9", sum + "  " + file + "\n", "", false},
		"no version":     {"latest", sum + "  " + file + "\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/v1.2.3/" + file:
					_, _ = io.WriteString(w, binary)
				case "/v1.2.3/SHA256SUMS":
					_, _ = io.WriteString(w, test.sums)
				default:
					http.NotFound(w, r)
				}
			}))
			defer releases.Close()
			folder := filepath.Join(t.TempDir(), "bin")
			command := exec.Command(filepath.Join(planAction(t), "install.sh"), folder)
			command.Env = append(os.Environ(), "SEAWALL_RELEASES="+releases.URL, "SEAWALL_VERSION="+test.version, "SEAWALL_SHA256="+test.pinned)
			out, err := command.CombinedOutput()
			if (err == nil) != test.ok {
				t.Fatalf("it ended with %v:\n%s", err, out)
			}
			installed, _ := os.ReadFile(filepath.Join(folder, "seawall")) // none where it failed
			if got := string(installed); test.ok && got != binary || !test.ok && got != "" {
				t.Errorf("installed %q\n%s", got, out)
			}
		})
	}
}

// fakeGhAPI stands in for gh api: its list is $COMMENTS in JSON, filtered by jq.
const fakeGhAPI = `#!/bin/bash
set -e
case "$*" in
*--jq*) while [ "$1" != --jq ]; do shift; done; printf '%s' "$COMMENTS" | jq -r "$2" ;;
*) echo "$*" >>"$CALLS" ;;
esac
`

// TestActionEditsItsOwnComment: the comment that a person or another workflow wrote last
// stays as it is.
func TestActionEditsItsOwnComment(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is missing")
	}
	const own, bot = `"<!-- seawall-plan -->\nold"`, `{"login":"github-actions[bot]"}`
	comment := func(id int, user, body string) string {
		return fmt.Sprintf(`{"id":%d,"user":%s,"body":%s}`, id, user, body)
	}
	for name, test := range map[string]struct{ comments, want string }{
		"none yet":         {"[]", "--method POST repos/acme/edge/issues/7/comments"},
		"its own":          {"[" + comment(1, bot, own) + "," + comment(2, bot, `"coverage"`) + "]", "--method PATCH repos/acme/edge/issues/comments/1"},
		"another workflow": {"[" + comment(2, bot, `"coverage"`) + "]", "--method POST repos/acme/edge/issues/7/comments"},
		"a person":         {"[" + comment(3, `{"login":"mallory"}`, own) + "]", "--method POST repos/acme/edge/issues/7/comments"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := programs(t, map[string]string{"gh": fakeGhAPI})
			harness.Write(t, folder, "plan.md", "# the plan\n")
			command := exec.Command(filepath.Join(planAction(t), "comment.sh"), "plan.md")
			command.Dir = folder
			command.Env = []string{
				pathOf(folder), "GITHUB_REPOSITORY=acme/edge", "PULL_REQUEST=7",
				"CALLS=" + filepath.Join(folder, "calls"), "COMMENTS=" + test.comments,
			}
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if calls := harness.ReadText(t, filepath.Join(folder, "calls")); !strings.Contains(calls, test.want) || strings.Count(calls, "\n") != 1 {
				t.Errorf("calls %q, want %q", calls, test.want)
			}
		})
	}
}

// TestForgejoRecipeEditsItsOwnComment is that for the recipe for Forgejo and Gitea.
func TestForgejoRecipeEditsItsOwnComment(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing")
	}
	var script string
	for _, step := range readYAML[workflow](t, filepath.Join(deploy, "ci", "forgejo.yaml"))[0].Jobs["plan"].Steps {
		if step.Name == "comment" {
			script = step.Run
		}
	}
	for comments, want := range map[string]string{
		`[]`: "POST /api/v1/repos/acme/edge/issues/7/comments",
		`[{"id":1,"user":{"id":-2},"body":"<!-- seawall-plan -->\nold"},{"id":2,"user":{"id":-2},"body":"coverage"}]`: "PATCH /api/v1/repos/acme/edge/issues/comments/1",
		`[{"id":3,"user":{"id":5},"body":"<!-- seawall-plan -->\nmallory"}]`:                                          "POST /api/v1/repos/acme/edge/issues/7/comments",
	} {
		var called []string
		forge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, comments)
				return
			}
			called = append(called, r.Method+" "+r.URL.Path)
			_, _ = io.WriteString(w, "{}")
		}))
		folder := t.TempDir()
		harness.Write(t, folder, "plan.md", "# the plan\n")
		command := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		command.Dir = folder
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "GITHUB_SERVER_URL=" + forge.URL, "GITHUB_REPOSITORY=acme/edge", "PULL_REQUEST=7", "TOKEN=t"}
		out, err := command.CombinedOutput()
		forge.Close()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if strings.Join(called, "\n") != want {
			t.Errorf("%s: calls %q, want %q", comments, called, want)
		}
	}
}
