package gitrepo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// tag makes a tag of a commit, signed by the signer if there is one.
func tag(t testing.TB, u *gittest.Repository, ref, name, commit string, by signer) {
	t.Helper()
	text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger Ada <ada@example.com> %d +0000\n\nRelease\n", commit, name, today.Add(-time.Hour).Unix())
	if by != nil {
		text += by(text)
	}
	u.Point("refs/tags/"+ref, u.Object("tag", text))
}

func TestVerifyTags(t *testing.T) {
	t.Parallel()
	ada, eve := sshKey(t), sshKey(t)
	good, bad := bySSH(t, ada, "git", "sha512"), bySSH(t, eve, "git", "sha512")
	trust := signature.Trust{SSH: file(t, "ada "+authorized(ada))}
	whole := gittest.New(t)
	whole.Commit("a.cue", "a: 1\n")
	plain := payload(whole, "Change\n")
	for i, test := range []struct {
		name    string
		require gitrepo.Require
		ref     string
		make    func(u *gittest.Repository, unsigned, signed string) (head string)
		kind    gitrepo.Kind
		say     string
	}{
		{"none", "tag", "refs/heads/main", func(_ *gittest.Repository, c, _ string) string { return c }, gitrepo.ErrUnsigned, "no annotated tag"},
		{"signed", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", c, good)
			return c
		}, "", ""},
		{"one of several", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v0", "v0", c, nil)
			tag(t, u, "v1", "v1", c, good)
			tag(t, u, "v2", "v2", c, bad)
			u.Git("tag", "light", c)
			return c
		}, "", ""},
		{"of another commit", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", u.Git("rev-parse", c+"^"), good)
			return c
		}, gitrepo.ErrUnsigned, "no annotated tag"},
		{"lightweight", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			u.Git("tag", "v1", c)
			return c
		}, gitrepo.ErrUnsigned, "no annotated tag"},
		{"annotated", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", c, nil)
			return c
		}, gitrepo.ErrUnsigned, "verifying tag v1 of commit "},
		{"by a stranger", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", c, bad)
			return c
		}, gitrepo.ErrUntrusted, "not trusted"},
		{"a tag of a tag", "tag", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", c, nil)
			text := strings.Replace(u.Git("cat-file", "tag", "v1")+"\n", "object "+c+"\ntype commit", "object "+u.Git("rev-parse", "v1")+"\ntype tag", 1)
			u.Point("refs/tags/v2", u.Object("tag", text+good(text)))
			u.Git("update-ref", "-d", "refs/tags/v1")
			return c
		}, gitrepo.ErrUntrusted, "it tags a tag"},
		{"both, without the head", "both", "refs/heads/main", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "v1", "v1", c, good)
			return c
		}, gitrepo.ErrUnsigned, "verifying commit "},
		{"both, without the tag", "both", "refs/heads/main", func(_ *gittest.Repository, _, c string) string { return c }, gitrepo.ErrUnsigned, "no annotated tag"},
		{"both", "both", "refs/heads/main", func(u *gittest.Repository, _, c string) string {
			tag(t, u, "v1", "v1", c, good)
			return c
		}, "", ""},
		{"following a tag", "tag", "refs/tags/live", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "live", "live", c, good)
			return c
		}, "", ""},
		{"following another tag", "tag", "refs/tags/live", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "live", "live", c, nil)
			tag(t, u, "v1", "v1", c, good)
			return c
		}, gitrepo.ErrUnsigned, "verifying tag live"},
		{"following a renamed tag", "tag", "refs/tags/live", func(u *gittest.Repository, c, _ string) string {
			tag(t, u, "live", "v0.1", c, good)
			return c
		}, gitrepo.ErrUntrusted, "another name"},
		{"following a lightweight tag", "tag", "refs/tags/live", func(u *gittest.Repository, c, _ string) string {
			u.Git("tag", "live", c)
			return c
		}, gitrepo.ErrUnsigned, "no annotated tag"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, _ := copied(t, whole.Dir, t.TempDir())
			unsignedHead, signedHead := u.Object("commit", plain), u.Object("commit", signed(plain, good))
			head := test.make(u, unsignedHead, signedHead)
			u.Point("refs/heads/main", head)
			policy := gitrepo.Policy{Trust: trust, Require: test.require, Ref: test.ref}
			for _, shallow := range []bool{false, true} {
				if !soak.On && shallow != (i%2 == 1) {
					continue
				}
				r := open(t)
				source := gitrepo.Source{URL: "file://" + u.Dir, Ref: test.ref, Tags: policy.Tags(), Shallow: shallow}
				for range 2 { // the second time from the store
					if got := fetch(t, r, source); got != head {
						t.Fatalf("fetched %s, want %s", got, head)
					}
					err := r.Verify(head, policy, today)
					if test.kind != "" {
						wantError(t, err, test.kind, test.say)
					} else if err != nil {
						t.Errorf("refused: %v", err)
					}
				}
			}
		})
	}
}

// A tag may come after its commit was fetched, go again, and has to outlive the
// packing of the store.
func TestTagsComeAndGo(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	r, dir := storeOf(t)
	ada := sshKey(t)
	head := u.Commit("a.cue", "a: 1\n")
	policy := gitrepo.Policy{Trust: signature.Trust{SSH: file(t, "ada "+authorized(ada))}, Require: gitrepo.RequireTag}
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "refs/heads/main", Tags: true}
	fetch(t, r, source)
	wantError(t, r.Verify(head, policy, today), gitrepo.ErrUnsigned, "no annotated tag")
	tag(t, u, "release/1", "release/1", head, bySSH(t, ada, "git", "sha512"))
	fetch(t, r, source)
	if err := r.Verify(head, policy, today); err != nil {
		t.Errorf("after the tag was pushed: %v", err)
	}
	local := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main", Limits: crowded}
	packed := false
	for _, commit := range u.Chain("a.cue", make([]string, 9)...) { // each of these fetches adds a pack
		u.Point("refs/heads/main", commit)
		before := packs(t, dir)
		fetch(t, r, local)
		packed = packed || packs(t, dir) < before
	}
	if !packed {
		t.Error("the store was not packed")
	}
	if err := r.Verify(head, policy, today); err != nil {
		t.Errorf("after the store was packed: %v", err)
	}
	wantError(t, r.Verify(u.Head(), policy, today), gitrepo.ErrUntrusted, "stands for another commit")
	u.Point("refs/heads/main", head)
	u.Git("tag", "-d", "release/1")
	fetch(t, r, source)
	wantError(t, r.Verify(head, policy, today), gitrepo.ErrUnsigned, "no annotated tag")
}

// What git itself signs, with the programs that people sign with, is accepted;
// and git accepts what the signers of these tests make.
func TestVerifyRealSignatures(t *testing.T) {
	now := time.Now()
	for name, prepare := range map[string]func(*testing.T, *gittest.Repository) (trust signature.Trust, ok bool){
		"ssh-keygen": withSSHKeygen, "gpg": withGPG,
	} {
		t.Run(name, func(t *testing.T) {
			u := gittest.New(t)
			u.Commit("a.cue", "a: 0\n")
			trust, ok := prepare(t, u)
			if !ok {
				t.Logf("%s is not installed; the other signers of these tests stand in", name)
				return
			}
			u.Write("a.cue", "a: 1\n")
			u.Git("commit", "-q", "-a", "-S", "-m", "Signed\n\nWith trailers\n\nApproved-by: Ada")
			u.Git("tag", "-s", "-m", "Release", "v1")
			u.Git("verify-commit", "HEAD")
			head := u.Head()
			r := open(t)
			fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main", Tags: true})
			if err := r.Verify(head, gitrepo.Policy{Trust: trust, Require: gitrepo.RequireBoth}, now.Add(time.Minute)); err != nil {
				t.Errorf("refused: %v", err)
			}
			who, err := r.Signer(head, trust, now.Add(time.Minute))
			if err != nil || !strings.Contains(who.Principal, "ada@example.com") {
				t.Errorf("signer %+v, %v", who, err)
			}
			if got, err := r.Trailers(head); err != nil || len(got["approved-by"]) != 1 {
				t.Errorf("trailers %v, %v", got, err)
			}
		})
	}
}

func withSSHKeygen(t *testing.T, u *gittest.Repository) (signature.Trust, bool) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		return signature.Trust{}, false
	}
	key := filepath.Join(t.TempDir(), "key")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	must.Do(t, err)
	signers := file(t, `ada@example.com namespaces="git" `+string(public))
	u.Git("config", "gpg.format", "ssh")
	u.Git("config", "user.signingkey", key)
	u.Git("config", "gpg.ssh.allowedSignersFile", signers)
	return signature.Trust{SSH: signers}, true
}

func withGPG(t *testing.T, u *gittest.Repository) (signature.Trust, bool) {
	if _, err := exec.LookPath("gpg"); err != nil {
		return signature.Trust{}, false
	}
	home, err := os.MkdirTemp("", "gpg") //nolint:usetesting // the path of a socket must be short
	must.Do(t, err)
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--kill", "all").Run() // the agent of this home alone
		_ = os.RemoveAll(home)
	})
	run(t, "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "Ada <ada@example.com>", "rsa2048", "sign", "1y")
	u.Git("config", "user.signingkey", "ada@example.com")
	return signature.Trust{OpenPGP: file(t, run(t, "gpg", "--armor", "--export"))}, true
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return string(out)
}
