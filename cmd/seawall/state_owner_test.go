//go:build linux

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/integration/must"
)

// Users of these tests: whom the daemon runs as, and another one. They need no name.
const (
	daemonUser = 41001
	otherUser  = 41002
)

// ownedState is a configuration whose state folder belongs to the daemon's user, and the
// binary in a place where every user can run it.
type ownedState struct{ binary, config, state string }

func newOwnedState(t *testing.T) ownedState {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	dir, err := os.MkdirTemp("", "seawall-owner-") //nolint:usetesting // another user must reach it; folders of t belong to root
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o := ownedState{filepath.Join(dir, "seawall"), filepath.Join(dir, "config.cue"), filepath.Join(dir, "state")}
	text := strings.NewReplacer("STATE", o.state).Replace(`source: url: "https://git.example/edge.git"
platform: base_url: "https://api.example/client/v4"
credentials: {rulesets: env: "RULESETS", tokens: env: "TOKENS"}
state: dir: "STATE"
`)
	self, err := os.Executable()
	must.Do(t, err)
	program, err := os.ReadFile(self) // it is seawall under that name
	must.Do(t, err)
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.WriteFile(o.binary, program, 0o755), os.WriteFile(o.config, []byte(text), 0o644), os.Mkdir(o.state, 0o700), os.Chown(o.state, daemonUser, daemonUser),
	} {
		must.Do(t, err)
	}
	return o
}

// run runs seawall as a user and returns what it said.
func (o ownedState) run(uid uint32, args ...string) (string, error) {
	for {
		out, err := o.start(uid, args...)
		if !errors.Is(err, syscall.ETXTBSY) { // a process of another test has not yet closed what it inherited: golang.org/issue/22315
			return out, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (o ownedState) start(uid uint32, args ...string) (string, error) {
	cmd := exec.Command(o.binary, append(args, "--config", o.config)...)
	cmd.Dir = filepath.Dir(o.binary)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "RULESETS=a", "TOKENS=b", "GORACE=" + quickExit}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// strangers lists what in the state folder is not the daemon's.
func (o ownedState) strangers(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(o.state, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if uid, gid, _, _ := setup.OwnerOf(info); uid != daemonUser || gid != daemonUser {
			list = append(list, path)
		}
		return nil
	})
	must.Do(t, err)
	return list
}

// What root does to a state folder, the daemon can read and go on with.
func TestRootLeavesFilesToTheOwnerOfTheState(t *testing.T) {
	t.Parallel()
	o := newOwnedState(t)
	for _, args := range [][]string{{"token", "init"}, {"hold", "zone", "shop.example", "--for", "1h", "--reason", "x"}} {
		if out, err := o.run(0, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if list := o.strangers(t); len(list) != 0 {
			t.Errorf("%v leaves %v to others", args, list)
		}
	}
	if _, err := os.Stat(filepath.Join(o.state, "ledger.db")); err != nil {
		t.Error(err)
	}
	out, err := o.run(daemonUser, "hold", "release", "zone", "shop.example")
	if err != nil {
		t.Errorf("as the daemon's user: %v\n%s", err, out)
	}
}

// Any other user is refused before anything is touched.
func TestOtherUserIsRefused(t *testing.T) {
	t.Parallel()
	o := newOwnedState(t)
	must.Do(t, os.Chmod(o.state, 0o755)) // enough to look in
	for _, args := range [][]string{{"token", "init"}, {"waves", "resume"}, {"plan"}, {"apply"}, {"revert", "--since", "1h", "--yes"}} {
		out, err := o.run(otherUser, args...)
		if err == nil || !strings.Contains(out, "belongs to #41001, and this is #41002") || !strings.Contains(out, "hint: nothing was changed") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if entries, err := os.ReadDir(o.state); err != nil || len(entries) != 0 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// A link into the folder gives nothing away that is elsewhere.
func TestGivingBackStaysInTheFolder(t *testing.T) {
	t.Parallel()
	o := newOwnedState(t)
	outside := filepath.Join(filepath.Dir(o.state), "outside")
	for _, err := range []error{
		os.WriteFile(outside, []byte("x"), 0o600), os.Link(outside, filepath.Join(o.state, "hard")), os.Symlink(outside, filepath.Join(o.state, "soft")),
		os.WriteFile(filepath.Join(o.state, "ours"), []byte("x"), 0o600),
	} {
		must.Do(t, err)
	}
	owner, err := setup.OwnerOfState(o.state)
	must.Do(t, err)
	must.Do(t, owner.GiveBack())
	info, err := os.Stat(outside)
	must.Do(t, err)
	if uid, _, _, _ := setup.OwnerOf(info); uid != 0 {
		t.Errorf("a file outside was given to %d", uid)
	}
	if list := o.strangers(t); len(list) != 1 || !bytes.HasSuffix([]byte(list[0]), []byte("hard")) {
		t.Errorf("not given back: %v", list)
	}
}
