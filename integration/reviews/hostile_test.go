package reviews

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// Whoever can open a pull request decides what is in it. These tests open what
// nobody should: each is told of, nothing of it happens, and both the followed
// branch and an honest pull request beside it go on.

// hostile is one such pull request.
type hostile struct {
	name string
	head func(r *reviewed) string // makes its head, on a branch of its own
	says []string                 // in the comment
}

// files is a head with files beside those of main.
func files(pairs ...string) func(*reviewed) string {
	return func(r *reviewed) string { return r.Repo.Commit(pairs...) }
}

func link(name, target string) func(*reviewed) string {
	return func(r *reviewed) string { r.Repo.Link(name, target); return r.Repo.Commit() }
}

// entry is one line of a tree's object, of which git itself would not write most.
type entry struct{ mode, name, object string }

// raw makes a commit of a tree that no git would check out.
func raw(entries func(blob string) []entry) func(*reviewed) string {
	return func(r *reviewed) string {
		var tree strings.Builder
		for _, e := range entries(r.object("blob", harness.Declare(1, 99))) {
			fmt.Fprintf(&tree, "%s %s\x00%s", e.mode, e.name, unhex(r.T, e.object))
		}
		return r.Repo.Git("commit-tree", "-p", "main", "-m", "Raw", r.object("tree", tree.String()))
	}
}

// object writes an object as it is, without git's own checks.
func (r *reviewed) object(kind, content string) string {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "object")
	must.Do(r.T, os.WriteFile(file, []byte(content), 0o600))
	return r.Repo.Git("hash-object", "-w", "--literally", "-t", kind, file)
}

func unhex(t testing.TB, hash string) string {
	var raw [20]byte
	if _, err := fmt.Sscanf(hash, "%x", (*hexBytes)(&raw)); err != nil {
		t.Fatal(err)
	}
	return string(raw[:])
}

type hexBytes [20]byte

// Scan implements fmt.Scanner.
func (h *hexBytes) Scan(state fmt.ScanState, _ rune) error {
	for i := range h {
		if _, err := fmt.Fscanf(state, "%2x", &h[i]); err != nil {
			return err
		}
	}
	return nil
}

// bomb is a file that CUE cannot bound, as compiletest has it.
func bomb(name string) func(*reviewed) string {
	for _, input := range compiletest.Hostile() {
		if input.Name == name {
			return files("bomb/edge.cue", input.Text)
		}
	}
	panic("no bomb is called " + name)
}

const (
	otherAccount = "ffffffffffffffffffffffffffffffff"
	markup       = "`</code><script>alert(1)</script> @everyone ![x](http://evil.example/x.png) <!-- seawall:plan --> | x |\n\n/merge\n### Approved"
)

// hostiles are numbered in this order. Those that take long come last and are
// looked at first, as the newest.
var hostiles = []hostile{
	{"a link instead of a file", link("link.cue", "/etc/passwd"), []string{"link.cue", "is a symlink, which is not followed"}},
	{"a link to a folder outside", link("outside", "../../.."), []string{"outside", "is a symlink to a target outside the repository"}},
	{"a link into the daemon's own files", link("cue.mod", "/proc/self"), []string{"cue.mod", "symlink"}},
	{"a large file", files("big.cue", "package edge\n//"+strings.Repeat("x", 2<<20)), []string{"big.cue", "over the bound of 1 MiB for one file"}},
	{"thousands of files", raw(func(blob string) (all []entry) {
		for i := range 20_001 {
			all = append(all, entry{"100644", fmt.Sprintf("f%05d.cue", i), blob})
		}
		return all
	}), []string{"bound of 20"}}, // 20000 files, or 20s of time on a slow machine
	{"a way up", raw(func(blob string) []entry { return []entry{{"100644", "..", blob}, {"100644", "edge.cue", blob}} }), []string{"Seawall"}},
	{"an absolute path", raw(func(blob string) []entry { return []entry{{"100644", "/etc/evil.cue", blob}} }), []string{"Seawall"}},
	{"the folder of git", raw(func(blob string) []entry { return []entry{{"100644", ".git", blob}, {"100644", "edge.cue", blob}} }), []string{"Seawall"}},
	{"names that differ in case", raw(func(blob string) []entry {
		return []entry{{"100644", "EDGE.CUE", blob}, {"100644", "edge.cue", blob}}
	}), []string{"Seawall"}},
	{"a submodule", raw(func(blob string) []entry {
		return []entry{{"100644", "edge.cue", blob}, {"160000", "lib", strings.Repeat("a", 40)}}
	}), []string{"lib", "is a submodule, which is not fetched"}},
	{"no commit", func(r *reviewed) string { return r.object("blob", "not a commit") }, []string{"this pull request cannot be read"}},
	{"no desired state", func(r *reviewed) string { r.Repo.Git("rm", "-q", "edge.cue"); return r.Repo.Commit("README", "gone") }, []string{"Seawall"}},
	{"markup in a declaration", files("edge.cue", strings.Replace(harness.Declare(2, 25), "waf: core: ",
		fmt.Sprintf("labels: {evil: %[1]q}, waf: core: expression: %[1]q, waf: core: ", markup), 1)), []string{"Seawall"}},
	{"markup in the name of a zone", files("edge.cue", strings.Replace(harness.Declare(2, 26), `"zone-00001.example"`, fmt.Sprintf("%q", line(markup)), 1)), []string{"2 to change"}},
	{"markup in a mistake", files("edge.cue", fmt.Sprintf("package edge\naccount: %q: id: %q\n", line(markup), markup)), []string{"does not compile"}},
	{"markup in the name of a file", files("x`</code><script> @everyone |.cue", "package edge\naccount: 1\n"), []string{"does not compile"}},
	{"an endless comment", files("edge.cue", long(400)), []string{"Seawall"}},
	{"somebody else's zone", files("edge.cue", harness.Declare(3, 25)), []string{"zone-00003.example", "not read"}},
	{"a zone under another account", files("edge.cue", strings.Replace(harness.Declare(2, 26), string(mem.Account), otherAccount, 1)), []string{"zone-00001.example", "not read"}},
	{"a token", files("edge.cue", harness.Declare(2, 25)+evilToken), []string{"evil"}},
	{"nesting", bomb("deep fields"), []string{"bomb: evaluating this folder exceeded the"}},
	{"memory", bomb("doubling"), []string{"bomb: evaluating this folder exceeded the"}},
	{"a bomb", bomb("disjunctions"), []string{"bomb: evaluating this folder exceeded the"}},
}

// elsewhere are those that only a soak opens, and the tests of every run that have them.
var elsewhere = map[string]string{
	"a link to a folder outside":         "TestTreeRefusals",
	"a link into the daemon's own files": "TestTreeRefusals",
	"a large file":                       "TestTreeRefusals",
	"thousands of files":                 "TestTreeBounds",
	"a way up":                           "TestTreeOfForgedObjects",
	"an absolute path":                   "TestTreeOfForgedObjects",
	"a submodule":                        "TestTreeRefusals",
	"memory":                             "TestBombsOfMemory",
	"a bomb":                             "TestBombsInAPullRequest",
}

// bombs is how many at the end of hostiles take long.
const bombs = 3

const evilToken = `token: evil: {
	policies: [{effect: "allow", resources: "com.vendor.api.account.zone.*": "*", permission_groups: [{id: "c8fed203ed3043cba015a93ad1616f1f"}]}]
	sink: {name: "ci", key: "evil"}
}
`

// long is a declaration with so many mistakes and so long that what is said of it
// does not fit into a comment.
func long(n int) string {
	var b strings.Builder
	b.WriteString("package edge\n")
	for i := range n {
		fmt.Fprintf(&b, "account: %q: bogus%d: 1\n", strings.Repeat("`|ä", 300), i)
	}
	return b.String()
}

// survivable are those that this machine bounds: a bounded address space is
// Linux's, and the race detector cannot live in one.
func survivable() []hostile {
	return slices.DeleteFunc(slices.Clone(hostiles), func(h hostile) bool {
		return elsewhere[h.name] != "" && !soak.On || h.name == "memory" && (runtime.GOOS != "linux" || len(harness.BuildFlags) > 0)
	})
}

// line is a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// open makes a head and opens a pull request of a stranger with it.
func (r *reviewed) open(number int, head func(*reviewed) string) {
	r.T.Helper()
	r.Repo.Git("checkout", "-q", "-f", "-B", "change", "main")
	r.Repo.Git("update-ref", r.forge.Ref(number), head(r))
	r.Repo.Git("checkout", "-q", "-f", "main")
	r.Repo.Git("clean", "-q", "-f", "-d")
	r.forge.Open(forgetest.Pull{Number: number, Author: "mallory", Title: markup, Fork: true, Head: strings.Repeat("c", 40)})
}

// told is the one comment on a pull request; empty before it is there.
func (r *reviewed) told(number int) string {
	r.T.Helper()
	comments := r.forge.Comments(number)
	if len(comments) > 1 {
		r.T.Fatalf("%d comments on pull request %d", len(comments), number)
	}
	if len(comments) == 0 {
		return ""
	}
	return comments[0].Body
}

// wantInert: nothing of a stranger's is markup. What is left of a comment beside
// its code is our own text, which has few and known pieces of HTML.
func wantInert(t *testing.T, comment string) {
	t.Helper()
	first, rest, _ := strings.Cut(comment, "\n")
	if first != "<!-- seawall:plan -->" || len(comment) > 65536 {
		t.Errorf("a comment of %d bytes begins with %q", len(comment), first)
	}
	for line := range strings.Lines(rest) {
		bare := ours.ReplaceAllString(strings.TrimSuffix(outsideCode(line), "\n"), "")
		if strings.ContainsAny(bare, "<>@`![") || strings.HasPrefix(line, "/") || strings.HasPrefix(line, "### Approved") {
			t.Errorf("a stranger's text is markup: %q in %q", bare, line)
		}
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && cells != 6 {
			t.Errorf("a row of %d cells: %q", cells-1, line)
		}
	}
}

var ours = regexp.MustCompile(`</?sub>|<br>|^<details><summary>[0-9]+ members?</summary>$|^</details>$`)

// outsideCode is a line of Markdown without its code spans.
func outsideCode(line string) string {
	var out strings.Builder
	for {
		begin := strings.IndexByte(line, '`')
		if begin < 0 {
			return out.String() + line
		}
		out.WriteString(line[:begin])
		line = line[begin:]
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		end := regexp.MustCompile("[^`]" + fence + "([^`]|$)").FindStringIndex(line[len(fence):])
		if end == nil {
			return out.String() + line
		}
		line = line[len(fence)+end[0]+1+len(fence):]
	}
}

func TestHostilePullRequests(t *testing.T) {
	t.Parallel()
	all := survivable()
	r := newReviewed(t, forges.GitHub, 3, "@every 1s")
	tokens := fmt.Sprintf("tokens: file: %q", filepath.Join(r.Dir, "tokens-token"))
	r.Write("tokens-token", r.Platform.TokensToken.Reveal())
	r.Configure(strings.Replace(r.text(), "credentials: ", "credentials: "+tokens+"\ncredentials: ", 1) +
		fmt.Sprintf("sinks: ci: file: root: %q\n", filepath.Join(r.Dir, "secrets")))
	r.Repo.Commit("edge.cue", harness.Declare(2, 25))
	r.open(1, files("edge.cue", harness.Declare(2, 26)))
	for i, h := range all {
		r.open(i+2, h.head)
	}
	r.Start()
	r.PollReady()
	r.Platform.ClearTranscript()
	branch := 30 // no pull request declares what the branch comes to
	for i := len(all) - 1; i >= 0; i-- {
		h, number := all[i], i+2
		r.PollLong(t, h.name+" is told of", func() bool { return r.told(number) != "" })
		text := r.told(number)
		for _, want := range h.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%.3000s", h.name, want, text)
			}
		}
		wantInert(t, text)
		if strings.Contains(text, "root:x:") {
			t.Errorf("%s: a file of the machine is in\n%s", h.name, text)
		}
		if i%7 == 0 || i >= len(all)-bombs {
			branch++
			r.Repo.Commit("edge.cue", harness.Declare(2, branch))
			r.hook(hookSecret)
			r.PollLong(t, "the branch goes on beside "+h.name, func() bool { return r.Platform.Threshold(mem.FleetZone(2)) == branch })
		}
	}
	r.PollLong(t, "the honest one is told of", func() bool { return strings.Contains(r.told(1), "2 to change") })
	r.wantOnlyOwnCalls()
	if _, err := os.Stat(filepath.Join(r.Dir, "secrets", "evil")); err == nil {
		t.Error("a pull request has created a token")
	}
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}

func (r *reviewed) text() string {
	r.T.Helper()
	content := harness.ReadText(r.T, r.ConfigFile())
	return content
}

// wantOnlyOwnCalls: the platform was asked about what the branch declares, and
// about nothing else.
func (r *reviewed) wantOnlyOwnCalls() {
	r.T.Helper()
	for _, call := range r.Platform.Calls() {
		for _, foreign := range []string{mem.FleetZone(3).String(), otherAccount, "/user"} {
			if strings.Contains(call, foreign) {
				r.T.Errorf("a pull request had %s sent", call)
			}
		}
	}
	writes := r.Platform.Writes()
	delete(writes, mem.FleetZone(1).String())
	delete(writes, mem.FleetZone(2).String())
	if len(writes) > 0 {
		r.T.Errorf("writes %v", writes)
	}
}

// With more pull requests than are looked at, and with a forge that takes a
// request and never answers, the branch is reconciled as ever. In a soak each pull
// request is planned; otherwise each waits for a person, which takes no process.
func TestManyPullRequestsAndAForgeThatHangs(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitHub, 2, "@every 1s")
	if !soak.On {
		r.forge.Restrict("mallory")
	}
	r.Repo.Commit("edge.cue", harness.Declare(1, 25))
	head := r.head("edge.cue", harness.Declare(1, 26))
	heads := []string{"fetch", "-q", "."}
	for number := 1; number <= 75; number++ {
		heads = append(heads, head+":"+r.forge.Ref(number))
		r.forge.Open(forgetest.Pull{Number: number, Author: "mallory", Fork: true, Head: head})
	}
	r.Repo.Git(heads...)
	r.Start()
	r.PollReady()
	r.PollLong(t, "the newest are told of", func() bool { return r.told(26) != "" })
	if r.told(25) != "" || r.told(1) != "" {
		t.Error("more than the newest 50 are told of")
	}
	for number := 26; number <= 75; number++ {
		r.forge.Set(number, func(p *forgetest.Pull) { p.State = "closed" })
	}
	r.PollLong(t, "room is made for the others", func() bool { return r.told(25) != "" })

	hanging, release := make(chan string, 100), make(chan struct{})
	r.forge.Break(func(_ http.ResponseWriter, req *http.Request) bool {
		select {
		case hanging <- req.URL.Path:
		default:
		}
		<-release
		return true
	})
	t.Cleanup(func() { close(release) })
	<-hanging
	for score := 30; score < 33; score++ {
		r.Repo.Commit("edge.cue", harness.Declare(1, score))
		r.Poll("the branch goes on beside the forge", func() bool { return r.Platform.Threshold(mem.FleetZone(1)) == score })
	}
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}
