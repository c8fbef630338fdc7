package real_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/seawall-dev/seawall/integration/must"
)

var giteaModule = module{
	path: "code.gitea.io/gitea", version: "v1.26.0", program: "code.gitea.io/gitea",
	tags: "sqlite sqlite_unlock_notify", cgo: "1", keep: []string{"templates", "options"},
}

const giteaConfig = `APP_NAME = Gitea
RUN_MODE = prod
RUN_USER = %[1]s
WORK_PATH = %[2]s
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]s
ROOT_URL = http://127.0.0.1:%[3]s/
STATIC_ROOT_PATH = %[2]s
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
MODE = console
LEVEL = Warn
`

// forge is a Gitea of the test, with a private repository acme/edge, and people who act
// through its API.
type forge struct {
	*part
	url    string
	dir    string
	people map[string]*gitea.Client
	hooked time.Time // when the newest event was caused
}

const project, repository = "acme", "edge"

// startGitea runs it as a user that is not harness.Root, which it asks for, in a folder of its own.
func startGitea(t *testing.T) *forge {
	t.Helper()
	m := giteaModule
	m.goMod = m.asOwn
	built := m.build(t)
	dir, err := os.MkdirTemp("", "seawall-gitea-") //nolint:usetesting // the folder of t.TempDir is closed to other users
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := freeAddress(t)
	f := &forge{url: "http://" + address, dir: dir, people: map[string]*gitea.Client{}}
	for _, each := range m.keep {
		copyFolder(t, filepath.Join(built, each), filepath.Join(dir, each))
	}
	run(t, exec.Command("cp", filepath.Join(built, "gitea"), filepath.Join(dir, "gitea")))
	who := "nobody"
	if os.Geteuid() != 0 {
		who = os.Getenv("USER")
	}
	writeFile(t, filepath.Join(dir, "app.ini"), fmt.Sprintf(giteaConfig, who, dir, address[strings.LastIndex(address, ":")+1:]))
	if os.Geteuid() == 0 {
		run(t, exec.Command("chown", "-R", "nobody", dir))
	}
	run(t, f.program("migrate"))
	f.part = start(t, f.program("web"))
	f.until("it answers", answers(f.url+"/api/v1/version"))
	return f
}

// program is a command of Gitea's own.
func (f *forge) program(args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(f.dir, "gitea"), append([]string{"--config", filepath.Join(f.dir, "app.ini")}, args...)...)
	command.Dir = f.dir
	command.Env = []string{"HOME=" + f.dir, "USER=nobody", "PATH=" + os.Getenv("PATH"), "GITEA_WORK_DIR=" + f.dir}
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	} else {
		command.Env = append(command.Env, "USER="+os.Getenv("USER"))
	}
	return command
}

// person makes an account, and a client of the API for it.
func (f *forge) person(name string, more ...string) *gitea.Client {
	f.t.Helper()
	run(f.t, f.program(append([]string{
		"admin", "user", "create", "--username", name, "--password", "s3cret-" + name,
		"--email", name + "@example.com", "--must-change-password=false",
	}, more...)...))
	client, err := gitea.NewClient(f.url, gitea.SetBasicAuth(name, "s3cret-"+name), gitea.SetGiteaVersion("")) // built from its module, it has no version
	must.Do(f.t, err)
	f.people[name] = client
	return client
}

// token makes an access token of an account, as the documents name its rights.
func (f *forge) token(name string) string {
	f.t.Helper()
	out := run(f.t, f.program("admin", "user", "generate-access-token", "--username", name, "--token-name", "seawall", "--raw",
		"--scopes", "write:repository,write:issue,read:user"))
	return strings.TrimSpace(last(out, 1))
}

// populate makes the people and the project: its branch takes merges alone, and only where
// Seawall's status is a success.
func (f *forge) populate(first string) {
	f.t.Helper()
	owner := f.person(project, "--admin")
	_, _, err := owner.CreateRepo(gitea.CreateRepoOption{Name: repository, Private: true, AutoInit: true, DefaultBranch: "main"})
	must.Do(f.t, err)
	write, read := gitea.AccessModeWrite, gitea.AccessModeRead
	for name, mode := range map[string]*gitea.AccessMode{"seawall": &write, "dev": &write, "ana": &write, "mallory": &read} {
		f.person(name)
		_, err := owner.AddCollaborator(project, repository, name, gitea.AddCollaboratorOption{Permission: mode})
		must.Do(f.t, err)
	}
	_, _, err = owner.CreateFile(project, repository, "edge.cue", gitea.CreateFileOptions{Content: encoded(first)})
	must.Do(f.t, err)
	_, _, err = owner.CreateBranchProtection(project, repository, gitea.CreateBranchProtectionOption{
		RuleName: "main", EnableStatusCheck: true, StatusCheckContexts: []string{"seawall/plan"},
	})
	must.Do(f.t, err)
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// hook sends the events that the documents name.
func (f *forge) hook(address, secret string) {
	f.t.Helper()
	_, _, err := f.people[project].CreateRepoHook(project, repository, gitea.CreateHookOption{
		Type: gitea.HookTypeGitea, Active: true,
		Config: map[string]string{"url": "http://" + address + "/hook/git", "content_type": "json", "secret": secret},
		Events: []string{"push", "pull_request", "pull_request_sync", "pull_request_label", "pull_request_review"},
	})
	must.Do(f.t, err)
}

// push writes edge.cue in a new branch, or once more in one that is there, and returns the
// commit.
func (f *forge) push(who, owner, branch, text string, exists bool) string {
	f.t.Helper()
	from := "main"
	options := gitea.FileOptions{BranchName: "main", NewBranchName: branch}
	if exists {
		from, options = branch, gitea.FileOptions{BranchName: branch}
	}
	now, _, err := f.people[who].GetContents(owner, repository, from, "edge.cue")
	must.Do(f.t, err)
	f.hooked = time.Now()
	answer, _, err := f.people[who].UpdateFile(owner, repository, "edge.cue", gitea.UpdateFileOptions{FileOptions: options, SHA: now.SHA, Content: encoded(text)})
	must.Do(f.t, err)
	return answer.Commit.SHA
}

func (f *forge) open(who, head, title string) int64 {
	f.t.Helper()
	f.hooked = time.Now()
	pull, _, err := f.people[who].CreatePullRequest(project, repository, gitea.CreatePullRequestOption{Head: head, Base: "main", Title: title})
	must.Do(f.t, err)
	return pull.Index
}

// wantComment waits until Seawall's one comment says all of it, and returns its id.
func (f *forge) wantComment(pull int64, says ...string) (id int64) {
	f.t.Helper()
	f.until(fmt.Sprintf("a comment with %q", says), func() error {
		all, _, err := f.people[project].ListIssueComments(project, repository, pull, gitea.ListIssueCommentOptions{})
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(c *gitea.Comment) bool { return c.Poster.UserName != "seawall" })
		if len(all) != 1 {
			return fmt.Errorf("there are %d comments", len(all))
		}
		for _, text := range says {
			if !strings.Contains(all[0].Body, text) {
				return fmt.Errorf("it says\n%s", all[0].Body)
			}
		}
		id = all[0].ID
		return nil
	})
	f.t.Logf("the comment of pull request %d says %q after %s", pull, says, time.Since(f.hooked).Round(100*time.Millisecond))
	return id
}

// wantStatus waits until the newest status of a context at a commit is this one.
func (f *forge) wantStatus(commit, name string, want gitea.StatusState) {
	f.t.Helper()
	f.until(fmt.Sprintf("%s of %.12s is %s", name, commit, want), func() error {
		all, _, err := f.people[project].ListStatuses(project, repository, commit, gitea.ListStatusesOption{})
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(s *gitea.Status) bool { return s.Context != name })
		slices.SortFunc(all, func(a, b *gitea.Status) int { return int(b.ID - a.ID) })
		if len(all) == 0 || all[0].State != want {
			return fmt.Errorf("the statuses are %+v", all)
		}
		return nil
	})
}

// merge reports whether the forge takes the merge.
func (f *forge) merge(pull int64) bool {
	f.t.Helper()
	f.hooked = time.Now()
	merged, answer, err := f.people["dev"].MergePullRequest(project, repository, pull, gitea.MergePullRequestOption{Style: gitea.MergeStyleMerge})
	f.t.Logf("merge of pull request %d: %v, %s, %v", pull, merged, answer.Status, err)
	return merged
}

// newReviewing is a daemon that follows the project, and that syncs by itself once an hour:
// what comes sooner, a webhook has caused.
func newReviewing(t *testing.T, f *forge) *daemon {
	t.Helper()
	d := newDaemon(t, "")
	token, secret := filepath.Join(d.dir, "forge-token"), filepath.Join(d.dir, "hook-secret")
	writeFile(t, token, f.token("seawall"))
	writeFile(t, secret, "s3cret-of-the-hook")
	d.configure(fmt.Sprintf(`source: {url: %[1]q, auth: token: file: %[2]q}
schedule: {sync: "@every 1h", sweep: "@every 1h"}
forge: {
	kind: "gitea", url: %[3]q, project: "acme/edge", token: file: %[2]q
	approvers: ["ana"]
	forks: plans: "known"
}
guards: calm: approve: "weakening"
hooks: edge: {kind: "gitea", secret: file: %[4]q}
`, f.url+"/acme/edge.git", token, f.url, secret))
	d.start()
	f.hook(d.listen, "s3cret-of-the-hook")
	return d
}

// TestGitea meets a Gitea: pull requests from their opening to their merge.
func TestGitea(t *testing.T) {
	only(t)
	needs(t, "git gcc", "git", "go")
	f := startGitea(t)
	f.populate(fmt.Sprintf(wanted, 4))
	d := newReviewing(t, f)
	main, _, err := f.people[project].GetRepoBranch(project, repository, "main")
	must.Do(f.t, err)
	f.wantStatus(main.Commit.ID, "seawall/apply", gitea.StatusSuccess)

	head := f.push("dev", project, "weaker", fmt.Sprintf(wanted, 3), false)
	pull := f.open("dev", "weaker", "Weaker")
	comment := f.wantComment(pull, "waits for approval", "review by `ana` releases it")
	f.wantStatus(head, "seawall/plan", gitea.StatusPending)
	if f.merge(pull) {
		t.Fatal("it is merged before the review")
	}
	head = f.push("dev", project, "weaker", fmt.Sprintf(wanted, 2), true)
	if again := f.wantComment(pull, "waits for approval", "paranoia-level-3"); again != comment {
		t.Errorf("comment %d, then %d", comment, again)
	}
	f.wantStatus(head, "seawall/plan", gitea.StatusPending)
	f.hooked = time.Now()
	_, _, err = f.people["ana"].CreatePullReview(project, repository, pull, gitea.CreatePullReviewOptions{State: gitea.ReviewStateApproved, CommitID: head})
	must.Do(f.t, err)
	f.wantStatus(head, "seawall/plan", gitea.StatusSuccess)
	if !f.merge(pull) {
		t.Fatal("it is not merged")
	}
	main, _, err = f.people[project].GetRepoBranch(project, repository, "main")
	must.Do(f.t, err)
	f.wantStatus(main.Commit.ID, "seawall/apply", gitea.StatusSuccess)
	if out := d.command("plan"); !strings.Contains(out, "in sync") {
		t.Errorf("after the merge, the plan is\n%s", out)
	}
	refusedAtGitea(f)
	forkedAtGitea(f)
}

// refusedAtGitea opens pull requests that would not be applied as they are.
func refusedAtGitea(f *forge) {
	f.t.Helper()
	for branch, text := range map[string]string{
		"broken":  strings.Replace(fmt.Sprintf(wanted, 2), "paranoia: 2", "paranoia: true", 1),
		"blocked": strings.Replace(fmt.Sprintf(wanted, 2), "Core Ruleset", "No Such Ruleset", 1),
	} {
		head := f.push("dev", project, branch, text, false)
		pull := f.open("dev", branch, branch)
		f.wantComment(pull)
		f.wantStatus(head, "seawall/plan", gitea.StatusFailure)
		if f.merge(pull) {
			f.t.Errorf("%s is merged", branch)
		}
	}
}

// forkedAtGitea opens a pull request of somebody who may read alone.
func forkedAtGitea(f *forge) {
	f.t.Helper()
	_, _, err := f.people["mallory"].CreateFork(project, repository, gitea.CreateForkOption{})
	must.Do(f.t, err)
	head := f.push("mallory", "mallory", "stricter", fmt.Sprintf(wanted, 4), false)
	pull := f.open("mallory", "mallory:stricter", "Stricter")
	f.wantComment(pull, "no plan yet", "seawall-plan")
	f.wantStatus(head, "seawall/plan", gitea.StatusPending)
	label, _, err := f.people[project].CreateLabel(project, repository, gitea.CreateLabelOption{Name: "seawall-plan", Color: "#00aabb"})
	must.Do(f.t, err)
	f.hooked = time.Now()
	_, _, err = f.people["dev"].AddIssueLabels(project, repository, pull, gitea.IssueLabelsOption{Labels: []int64{label.ID}})
	must.Do(f.t, err)
	f.wantComment(pull, "1 to change")
	f.wantStatus(head, "seawall/plan", gitea.StatusSuccess)
}
