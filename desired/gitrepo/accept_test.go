package gitrepo_test

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/integration/must"
)

// rawCommit is a commit that no key has signed, and its name.
func rawCommit(message string) (raw, name string) {
	who := fmt.Sprintf("Ada <ada@example.com> %d +0000", today.Add(-time.Hour).Unix())
	raw = "tree " + strings.Repeat("1", 40) + "\nauthor " + who + "\ncommitter " + who + "\n\n" + message
	sum := sha1.Sum(fmt.Appendf(nil, "commit %d\x00%s", len(raw), raw))
	return raw, hex.EncodeToString(sum[:])
}

// policyBy trusts one key.
func policyBy(t *testing.T, keys string) gitrepo.Policy {
	t.Helper()
	return gitrepo.Policy{Trust: signature.Trust{SSH: file(t, keys)}}
}

// A commit that is not signed is refused for that before anything else of its pack is
// unpacked, whatever that would be, and wherever in the pack it stands. It is not sent
// again.
func TestSignatureIsCheckedFirst(t *testing.T) {
	t.Parallel()
	const most = gittest.MaxCopy
	bomb := func(p *gittest.Pack) { p.Repeat(p.Blob(make([]byte, most)), most, 224) }
	raw, name := rawCommit("A bomb\n")
	older, _ := rawCommit("Before\n")
	commit := func(p *gittest.Pack) { p.Object(gittest.PackCommit, len(raw), nil, []byte(raw)) }
	changed := func(p *gittest.Pack) { // the commit is a difference from an older one, as servers may send it
		base := p.Object(gittest.PackCommit, len(older), nil, []byte(older))
		delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(older))), uint64(len(raw)))
		for rest := raw; rest != ""; {
			n := min(len(rest), 127)
			delta = append(append(delta, byte(n)), rest[:n]...)
			rest = rest[n:]
		}
		p.Difference(base, delta)
	}
	policy := policyBy(t, "ada "+authorized(sshKey(t)))
	for _, test := range []struct {
		name string
		make func(*gittest.Pack)
	}{
		{"commit first", func(p *gittest.Pack) { commit(p); bomb(p) }},
		{"commit last", func(p *gittest.Pack) { p.Blob([]byte("a: 1\n")); commit(p) }},
		{"commit as a difference", func(p *gittest.Pack) { changed(p); bomb(p) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			pack := new(gittest.Pack)
			test.make(pack)
			server := servePack(t, pack.Done(), name)
			r, dir := storeOf(t)
			for range 2 {
				got, err := r.Fetch(t.Context(), gitrepo.Source{URL: server.URL, Ref: "refs/heads/main", Accept: policy.Accept(today)})
				wantError(t, err, gitrepo.ErrUnsigned, "verifying commit "+name[:12])
				if got.Commit != name {
					t.Errorf("the commit is %q, want %q", got.Commit, name)
				}
			}
			if n := server.Sent("refs/heads/main"); n != 1 {
				t.Errorf("the pack was sent %d times", n)
			}
			if n := packs(t, dir); n != 0 {
				t.Errorf("%d packs are kept", n)
			}
		})
	}
}

// Who is not trusted today may be tomorrow: the commit is judged anew at each fetch, and
// brought when it passes.
func TestRefusedCommitIsTrustedLater(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	ada := sshKey(t)
	plain := payload(u, "Change\n")
	head := u.Object("commit", withSignature(plain, bySSH(t, ada, "git", "sha512")(plain)))
	u.Point("refs/heads/main", head)
	keys := file(t, "eve "+authorized(sshKey(t)))
	policy := gitrepo.Policy{Trust: signature.Trust{SSH: keys}}
	source := gitrepo.Source{URL: u.HTTP("", ""), Ref: "refs/heads/main", Accept: policy.Accept(today)}
	r, dir := storeOf(t)
	got, err := r.Fetch(t.Context(), source)
	wantError(t, err, gitrepo.ErrUntrusted, "not trusted")
	if n := packs(t, dir); n != 0 || got.Commit != head {
		t.Errorf("%d packs are kept of %q", n, got.Commit)
	}
	must.Do(t, os.WriteFile(keys, []byte("ada "+authorized(ada)), 0o600))
	fetch(t, r, source)
	if err := r.Verify(head, policy, today); err != nil {
		t.Error(err)
	}
	// A file of keys that cannot be read says nothing against the next commit.
	u.Git("checkout", "-q", "-f", "main")
	next := u.Commit("a.cue", "a: 2\n")
	must.Do(t, os.Remove(keys))
	got, err = r.Fetch(t.Context(), source)
	wantError(t, err, gitrepo.ErrTrust, "no such file")
	if got.Commit != next {
		t.Errorf("the commit is %q, want %q", got.Commit, next)
	}
	// Nor does a commit that was refused keep an older one from being followed again.
	u.Git("reset", "-q", "--hard", head)
	must.Do(t, os.WriteFile(keys, []byte("ada "+authorized(ada)), 0o600))
	if got := fetch(t, r, source); got != head {
		t.Errorf("back at %q, want %q", got, head)
	}
}

// A commit over a limit is not asked for again until the ref moves, or the limits change.
func TestRefusedCommitIsRemembered(t *testing.T) {
	t.Parallel()
	const most = gittest.MaxCopy
	raw, name := rawCommit("Large\n")
	pack := new(gittest.Pack)
	pack.Object(gittest.PackCommit, len(raw), nil, []byte(raw))
	pack.Blob(make([]byte, most))
	server := servePack(t, pack.Done(), name)
	r, _ := storeOf(t)
	source := gitrepo.Source{URL: server.URL, Ref: "refs/heads/main", Limits: gitrepo.FetchLimits{ObjectBytes: 1 << 20}}
	try := func(want int, say string) {
		t.Helper()
		got, err := r.Fetch(t.Context(), source)
		wantError(t, err, gitrepo.ErrTooLarge, say)
		if n := server.Sent("refs/heads/main"); n != want || got.Commit != name {
			t.Errorf("the pack of %q was sent %d times, want %d", got.Commit, n, want)
		}
	}
	try(1, "an object of 16.0 MiB, over the limit of 1 MiB")
	try(1, "an object of 16.0 MiB, over the limit of 1 MiB")
	source.Limits.ObjectBytes = 2 << 20
	try(2, "over the limit of 2 MiB")
	source.Limits = gitrepo.FetchLimits{StoreBytes: 1 << 10}
	try(3, "the local store would take more than the limit of 1 KiB")
}

// Whatever is pushed, by force and over again, the store stays within its limit.
func TestStoreStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 0\n")
	r, dir := storeOf(t)
	const limit = 1 << 20
	source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main", Limits: gitrepo.FetchLimits{StoreBytes: limit}}
	var contents []string
	for range 24 { // more than the limit, together
		contents = append(contents, noise(t, 50<<10))
	}
	for _, head := range u.Fan("noise.bin", contents...) {
		u.Point("refs/heads/main", head)
		if got := fetch(t, r, source); got != head {
			t.Fatalf("fetched %s, want %s", got, head)
		}
		if used := folderBytes(t, dir); used > limit {
			t.Fatalf("the store takes %d bytes", used)
		}
	}
	u.Commit("noise.bin", noise(t, limit))
	for range 2 {
		_, err := r.Fetch(t.Context(), source)
		wantError(t, err, gitrepo.ErrTooLarge, "the local store would take more than the limit of 1 MiB")
	}
	if used := folderBytes(t, dir); used > limit {
		t.Errorf("the store takes %d bytes", used)
	}
}

func folderBytes(t *testing.T, dir string) (used int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			used += info.Size()
		}
		return err
	})
	must.Do(t, err)
	return used
}
