package reviews

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"golang.org/x/crypto/ssh"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	_ "modernc.org/sqlite"

	// to look into the ledger beside the daemon

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// What weakens waits for somebody's word. These tests give it in each of the ways
// there are, and in ways that look like one.

// guarded is a service that has what weakens approved, by ana alone. It follows
// one zone, whose threshold of 25 is in force.
type guarded struct {
	*reviewed
	began time.Time // the test
}

func newGuarded(t *testing.T, kind forges.Kind, config string) *guarded {
	t.Helper()
	g := &guarded{newReviewed(t, kind, 2, "@every 1s"), time.Now()}
	g.Configure(g.text() + "guards: calm: approve: \"weakening\"\nforge: approvers: [\"Ana\"]\n" + config)
	return g
}

func (g *guarded) begin() {
	g.T.Helper()
	g.Repo.Commit("edge.cue", harness.Declare(1, 25))
	g.Start()
	g.PollReady()
	g.Poll("the first commit is live", func() bool { return g.threshold() == 25 })
}

func (g *guarded) threshold() int { return g.Platform.Threshold(mem.FleetZone(1)) }

// proposed opens a pull request that weakens, and waits until it is told.
func (g *guarded) proposed(score int) string {
	g.T.Helper()
	head := g.head("edge.cue", harness.Declare(1, score))
	g.forge.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "Weaker"})
	g.Poll("the plan is told", func() bool { return g.marked(head) == "pending" })
	if text := g.comment(); !strings.Contains(text, "weakens") || !strings.Contains(text, "this change is not approved") {
		g.T.Errorf("the comment does not say what is to be approved:\n%s", text)
	}
	return head
}

// merge puts a head on the branch, and waits until the daemon has judged it. The
// forge closes the pull request at once.
func (g *guarded) merge(head string) {
	g.T.Helper()
	g.forge.Set(1, func(p *forgetest.Pull) { p.State = "merged" })
	g.Repo.Git("merge", "-q", "--ff-only", head)
}

// wantRefused: the merge is judged, and what it would do is not done by the runs
// after that either.
func (g *guarded) wantRefused(commit string) {
	g.T.Helper()
	g.Poll("the merge is told as a failure", func() bool { return strings.HasSuffix(g.marked(commit), "pending failure") })
	g.settle()
	if got := g.threshold(); got != 25 {
		g.T.Errorf("the threshold is %d, and nobody approved", got)
	}
	if said := g.record(); len(said) > 0 {
		g.T.Errorf("on record: %q", said)
	}
	if failed := g.description(commit); !strings.Contains(failed, "1 needs attention") {
		g.T.Errorf("the failure says %q", failed)
	}
}

// settle waits until the daemon has looked at the forge and at git twice.
func (g *guarded) settle() {
	g.T.Helper()
	looked := func() int { return len(g.Logged("nothing new")) + g.Runs() }
	before, asked := looked(), 0
	g.forge.Requests()
	g.Poll("both are looked at again", func() bool {
		for _, request := range g.forge.Requests() {
			if strings.Contains(request, "/pulls?") || strings.Contains(request, "/merge_requests?") {
				asked++
			}
		}
		return asked > 2 && looked() > before+1
	})
}

// description is what the last mark at a commit says.
func (g *guarded) description(commit string) string {
	statuses := g.forge.Statuses(commit)
	if len(statuses) == 0 {
		return ""
	}
	return statuses[len(statuses)-1].Description
}

// record are the approvals in the ledger, "who: reason", oldest first, each with a
// time within the test's own.
func (g *guarded) record() (said []string) {
	g.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(g.Dir, "state", "ledger.db")+"?mode=ro")
	must.Do(g.T, err)
	defer db.Close()
	rows, err := db.Query("SELECT digest, who, reason, at FROM approval ORDER BY seq")
	must.Do(g.T, err)
	defer rows.Close()
	for rows.Next() {
		var digest, who, reason, at string
		must.Do(g.T, rows.Scan(&digest, &who, &reason, &at))
		when, err := time.Parse(time.RFC3339Nano, at)
		if err != nil || when.Before(g.began.Add(-time.Second)) || when.After(time.Now().Add(time.Second)) || !digestForm.MatchString(digest) {
			g.T.Errorf("on record: %s by %s at %s", digest, who, at)
		}
		said = append(said, who+": "+reason)
	}
	return said
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// What an approver says of the head that is merged releases the merge, also where
// the merge follows at once.
func TestReviewApproves(t *testing.T) {
	t.Parallel()
	kinds := []forges.Kind{forges.GitHub} // what approves on which forge: see reconcile/forge
	if soak.On {
		kinds = append(kinds, forges.GitLab, forges.Gitea)
	}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t, kind, "")
			g.begin()
			head := g.proposed(60)
			g.forge.Approve(1, "ana")
			g.merge(head)
			g.Poll("the approved merge is live", func() bool { return g.threshold() == 60 })
			g.Poll("it is settled", func() bool { return regexp.MustCompile("pending (failure )?success$").MatchString(g.marked(head)) })
			said := g.record()
			if len(said) == 0 || !strings.HasPrefix(said[0], "ana: review of pull request 1, plan of ") {
				t.Errorf("on record: %q", said)
			}
			g.Signal(syscall.SIGTERM)
			g.WantEnd(0)
		})
	}
}

// Whatever else people say on a pull request releases nothing.
func TestReviewDoesNotApprove(t *testing.T) {
	t.Parallel()
	all := map[string]func(g *guarded, head string) string{
		"nobody":        func(_ *guarded, head string) string { return head },
		"somebody else": func(g *guarded, head string) string { g.forge.Approve(1, "mallory"); return head },
		"the author": func(g *guarded, head string) string {
			g.forge.Set(1, func(p *forgetest.Pull) { p.Author = "ana" })
			g.forge.Approve(1, "ana")
			return head
		},
		"an older head": func(g *guarded, head string) string {
			pushed := g.head("edge.cue", harness.Declare(1, 61))
			// A look that began before the push may still count a review of the
			// old head as an approval of the old plan, and rightly so.
			g.Poll("the push is told", func() bool { return g.marked(pushed) == "pending" })
			g.forge.Approve(1, "ana", head)
			return pushed
		},
		"a dismissed review": func(g *guarded, head string) string {
			g.unseen(func() { g.forge.Dismiss(g.forge.Review(1, "ana", "APPROVED")) })
			return head
		},
		"a second word": func(g *guarded, head string) string {
			g.unseen(func() { g.forge.Approve(1, "ana"); g.forge.Review(1, "ana", "CHANGES_REQUESTED") })
			return head
		},
		"a comment": func(g *guarded, head string) string {
			g.forge.Say(1, "ana", "Seawall-Approve: "+g.digest())
			g.forge.Review(1, "ana", "COMMENTED")
			return head
		},
		"a trailer that nobody signed": func(g *guarded, _ string) string {
			g.Repo.Git("checkout", "-q", "change")
			g.Repo.Git("commit", "-q", "--amend", "-m", "Weaker", "-m", "Seawall-Approve: "+g.digest())
			pushed := g.Repo.Head()
			g.Repo.Git("update-ref", g.forge.Ref(1), pushed)
			g.Repo.Git("checkout", "-q", "main")
			g.Poll("the push is told", func() bool { return g.marked(pushed) == "pending" })
			return pushed
		},
	}
	all["all that leaves an approval in force"] = func(g *guarded, head string) string {
		for _, name := range []string{"an older head", "somebody else", "a comment"} { // the last two of the head that is merged
			head = all[name](g, head)
		}
		return head
	}
	for name, say := range soak.Some(all, "all that leaves an approval in force") { // reconcile/forge tells which reviews approve
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t, forges.GitHub, "")
			g.begin()
			head := say(g, g.proposed(60))
			g.settle()
			g.merge(head)
			g.wantRefused(head)
			g.Signal(syscall.SIGTERM)
			g.WantEnd(0)
		})
	}
}

// unseen does something while the forge tells nobody anything.
func (g *guarded) unseen(do func()) {
	g.forge.Break(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	do()
	g.forge.Break(nil)
}

// digest is what the comment has to be approved.
func (g *guarded) digest() string {
	g.T.Helper()
	found := regexp.MustCompile("seawall apply --approve (sha256:[0-9a-f]{64})").FindStringSubmatch(g.comment())
	if found == nil {
		g.T.Fatalf("no digest is in\n%s", g.comment())
	}
	return found[1]
}

// A person at the daemon's machine says it on the command line.
func TestCommandApproves(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, forges.Gitea, "")
	g.begin()
	head := g.proposed(60)
	g.merge(head)
	g.wantRefused(head)
	harness.Run(t, nil, "apply", "--config", g.ConfigFile(), "--approve", "sha256:"+strings.Repeat("0", 64)).Want(t, 4)
	if got := g.threshold(); got != 25 {
		t.Errorf("another digest released it: %d", got)
	}
	harness.Run(t, nil, "apply", "--config", g.ConfigFile(), "--approve", g.digest()).Want(t, 0)
	g.settle()
	if got, said := g.threshold(), g.record(); got != 60 || len(said) != 1 || strings.HasPrefix(said[0], ":") {
		t.Errorf("threshold %d, on record %q", got, said)
	}
	g.Signal(syscall.SIGTERM)
	g.WantEnd(0)
}

// sign has the repository's commits signed by a key from here on.
func (g *guarded) sign(key gittest.Key, name string) {
	g.T.Helper()
	g.Write(name, key.PEM)
	g.Write(name+".pub", string(ssh.MarshalAuthorizedKey(key.Public)))
	for _, setting := range [][2]string{{"gpg.format", "ssh"}, {"user.signingkey", filepath.Join(g.Dir, name)}, {"commit.gpgsign", "true"}} {
		g.Repo.Git("config", setting[0], setting[1])
	}
}

// trailer commits on the branch, with a trailer where there is a digest.
func (g *guarded) trailer(score int, digest string) string {
	g.T.Helper()
	message := []string{"commit", "-q", "--allow-empty", "-m", "Weaker"}
	if digest != "" {
		message = append(message, "-m", "Seawall-Approve: "+digest)
	}
	g.Repo.Write("edge.cue", harness.Declare(1, score))
	g.Repo.Git("add", "-A")
	g.Repo.Git(message...)
	return g.Repo.Head()
}

// A trailer approves where a trusted key has signed the commit of the branch that
// carries it; once, and over a restart too.
func TestTrailerApproves(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, forges.GitHub, "")
	g.Configure(g.text() + fmt.Sprintf("source: verify: ssh: %q\n", filepath.Join(g.Dir, "signers")))
	ana, eve := gittest.NewKey(t), gittest.NewKey(t)
	g.Write("signers", `ana@example.com namespaces="git" `+string(ssh.MarshalAuthorizedKey(ana.Public)))
	g.sign(ana, "ana")
	g.begin()

	// In a pull request, by whomever, it is no word about the branch.
	g.proposed(60)
	digest := g.digest()
	g.Repo.Git("checkout", "-q", "change")
	g.sign(eve, "eve")
	forged := g.trailer(60, digest)
	g.Repo.Git("update-ref", g.forge.Ref(1), forged)
	g.Repo.Git("checkout", "-q", "main")
	g.Poll("the forged one is told", func() bool { return g.marked(forged) == "pending" })
	g.wantNoWord(25)

	// On the branch: signed by a stranger, and not at all.
	held := g.trailer(60, digest)
	g.Poll("the stranger's commit is held", func() bool { return g.marked(held) == "failure" })
	g.Repo.Git("reset", "-q", "--hard", "HEAD^")
	g.Repo.Git("config", "commit.gpgsign", "false")
	held = g.trailer(60, digest)
	g.Poll("the commit without signature is held", func() bool { return g.marked(held) == "failure" })
	g.wantNoWord(25)

	// Signed by her, without a trailer and with one of something else.
	g.Repo.Git("reset", "-q", "--hard", "HEAD^")
	g.sign(ana, "ana")
	weaker := g.trailer(60, "")
	g.Poll("what nobody approved is refused", func() bool { return g.marked(weaker) == "pending failure" })
	g.wantNoWord(25)

	approved := g.trailer(60, digest)
	g.Poll("the approved commit is live", func() bool { return g.threshold() == 60 })
	g.Poll("it is settled", func() bool { return g.marked(approved) == "pending success" })
	said := g.record()
	if len(said) == 0 || !strings.HasPrefix(said[0], "ana@example.com (SHA256:") || !strings.Contains(said[0], "trailer of commit "+approved+", signed text ") {
		t.Errorf("on record: %q", said)
	}

	g.Signal(syscall.SIGTERM)
	g.WantEnd(0)
	g.stricter()
	g.Start()
	g.settle()
	if got, now := g.threshold(), g.record(); got != 25 || len(now) != len(said) {
		t.Errorf("threshold %d, on record %q", got, now)
	}

	// Who moves the branch back to her commit does not have her approve again.
	strict := g.trailer(25, "")
	g.Poll("the stricter commit is settled", func() bool { return g.marked(strict) == "pending success" })
	g.Repo.Git("reset", "-q", "--hard", approved)
	g.Poll("her commit is back", func() bool { return g.marked(approved) == "pending success pending failure" })
	g.settle()
	if got, now := g.threshold(), g.record(); got != 25 || len(now) != len(said) {
		t.Errorf("moved back: threshold %d, on record %q", got, now)
	}
	g.Signal(syscall.SIGTERM)
	g.WantEnd(0)
}

// wantNoWord: nobody has approved anything, and the threshold is what it was.
func (g *guarded) wantNoWord(threshold int) {
	g.T.Helper()
	g.settle()
	if got, said := g.threshold(), g.record(); got != threshold || len(said) > 0 {
		g.T.Errorf("threshold %d, on record %q", got, said)
	}
}

// stricter sets the threshold back by hand.
func (g *guarded) stricter() {
	g.T.Helper()
	entryPoint := g.Platform.EntryPoint(mem.FleetZone(1))
	for i := range entryPoint.Rules[0].ActionParameters.Overrides.Rules {
		entryPoint.Rules[0].ActionParameters.Overrides.Rules[i].ScoreThreshold = new(25)
	}
	must.Do(g.T, g.Platform.Platform.SetEntryPoint(mem.FleetZone(1), entryPoint))
}

// The mark of a merge stays pending while a zone is, over a restart too, and is
// settled once.
func TestMergeSettlesAfterARestart(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitLab, 2, "@every 1s")
	r.Repo.Commit("edge.cue", harness.Declare(2, 25))
	r.Start()
	r.PollReady()
	must.Do(t, r.Platform.SetQuirks([]string{"error-before=1"}))
	merged := r.Repo.Commit("edge.cue", harness.Declare(2, 26))
	r.Poll("the merge is begun", func() bool { return r.marked(merged) == "pending" })
	tried := len(r.Platform.Calls())
	r.Poll("it is tried again", func() bool { return len(r.Platform.Calls()) > tried+4 })
	if got := r.marked(merged); got != "pending" {
		t.Errorf("marks %q while zones are pending", got)
	}
	r.Kill()
	must.Do(t, r.Platform.SetQuirks(nil))
	r.Start()
	r.Poll("the merge is settled", func() bool { return strings.HasSuffix(r.marked(merged), "success") })
	runs := len(r.Logged("nothing new"))
	r.Poll("git is looked at again", func() bool { return len(r.Logged("nothing new")) > runs+1 })
	if got := r.marked(merged); got != "pending success" {
		t.Errorf("marks %q", got)
	}
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}
