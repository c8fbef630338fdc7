package tokens

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// What people order about tokens while daemons start, run and die.

// rotatingForge is a forge whose one token rotates, and exists. Answers to writes are kept
// back from the nth on; 0 is never.
func rotatingForge(t *testing.T, nth int32) (*tokenForge, *harness.Front) {
	t.Helper()
	p, dir, repo := harness.StartPlatform(t, harness.Fleet(1)), t.TempDir(), gittest.New(t)
	w := tokenWorldOn(p, dir, "file://"+repo.Dir)
	var front *harness.Front
	if nth > 0 {
		front = harness.NewFront(t, p, nth)
		w.tokenPlace.BaseURL = front.Address
	}
	f := newTokenForgeIn(w, dir, repo, "")
	repo.Commit("edge.cue", strings.ReplaceAll(harness.DeclareTokens("ci-dns"), "policies:", `rotate: {every: "720h", overlap: "48h"}, policies:`))
	f.seawall("apply").Want(t, 0)
	return f, front
}

// daemon is a process of `seawall run`.
type daemon struct {
	t    *testing.T
	cmd  *exec.Cmd
	said bytes.Buffer
}

// starts starts a daemon and does not wait until it serves.
func (f *tokenForge) starts(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: exec.Command(harness.Seawall(t), "run", "--config", f.config(), "--log-format", "json")}
	d.cmd.Stderr = &d.said
	must.Do(t, d.cmd.Start())
	t.Cleanup(func() { d.ends(syscall.SIGKILL) })
	return d
}

// ends ends it by a signal, and waits until it is gone.
func (d *daemon) ends(signal syscall.Signal) {
	if d.cmd.ProcessState != nil {
		return
	}
	_ = d.cmd.Process.Signal(signal)
	_ = d.cmd.Wait()
	if d.t.Failed() {
		d.t.Logf("the daemon said:\n%s", d.said.String())
	}
}

// until waits for something that is to be soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(harness.Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestOrdersWhileTheDaemonStarts: commands that begin together with a daemon, before it has
// the lock of the tokens, are done by one of them, once.
func TestOrdersWhileTheDaemonStarts(t *testing.T) {
	t.Parallel()
	f, _ := rotatingForge(t, 0)
	rounds := 3
	if soak.On {
		rounds = 30
	}
	for round := range rounds {
		before := len(made(f.tokenWorld.Platform)["ci-dns"])
		d := f.starts(t)
		codes := make([]harness.Outcome, 3)
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() {
				if i == 2 {
					codes[i] = f.seawall("token", "init")
					return
				}
				codes[i] = f.seawall("token", "rotate", "ci-dns", "--yes")
			})
		}
		all.Wait()
		rotated, held := 0, 0
		for i, o := range codes {
			switch {
			case strings.Contains(o.Stderr, "another process has locked the tokens"): // a slow machine
				o.Want(t, 1)
				held++
			case o.Code == 0 && i < 2:
				rotated++
			case o.Code == 1 && i < 2:
				o.Want(t, 1, "was not rotated") // the other was first
			default:
				o.Want(t, 0)
			}
		}
		if n := len(made(f.tokenWorld.Platform)["ci-dns"]) - before; rotated+held == 0 || n != rotated {
			t.Errorf("round %d: %d commands have rotated the token, and it has %d successors more", round, rotated, n)
		}
		d.ends(syscall.SIGTERM)
		for _, r := range f.records()["ci-dns"] {
			if r.State != diff.TokenConfirmed || !r.Delivered {
				t.Errorf("round %d: token %s is %s, delivered %v", round, r.ID, r.State, r.Delivered)
			}
		}
	}
}

// TestDaemonKilledDuringAnOrder: the command says that it does not know. The next daemon
// finds out what may have happened, takes a person's word, and rotates once more only when it
// is asked to.
func TestDaemonKilledDuringAnOrder(t *testing.T) {
	t.Parallel()
	f, front := rotatingForge(t, 2)
	d := f.starts(t)
	answered := make(chan harness.Outcome, 1)
	go func() { answered <- f.seawall("token", "rotate", "ci-dns", "--yes") }()
	until(t, "the creation is sent", front.Holds)
	d.ends(syscall.SIGKILL)
	(<-answered).Want(t, 1, "the daemon does not answer", "the daemon may have done it")
	front.Release()

	d = f.starts(t)
	until(t, "the attempt is quarantined", func() bool {
		o := f.seawall("token", "list")
		return strings.Contains(o.Stdout, string(diff.TokenQuarantined))
	})
	exist := made(f.tokenWorld.Platform)["ci-dns"]
	if len(exist) != 2 {
		t.Errorf("%d tokens exist", len(exist))
	}
	f.seawall("token", "rotate", "ci-dns", "--yes").Want(t, 4, "seawall token resolve ci-dns")
	f.seawall("token", "resolve", "ci-dns", "--abandon").Want(t, 0)
	f.seawall("token", "rotate", "ci-dns", "--yes").Want(t, 0, "created, secret delivered")
	if n := len(made(f.tokenWorld.Platform)["ci-dns"]); n != 3 {
		t.Errorf("%d tokens exist", n)
	}
	d.ends(syscall.SIGTERM)
}
