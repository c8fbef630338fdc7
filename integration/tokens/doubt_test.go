package tokens

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// wantDoubt: nothing is created, and both plan and apply say why not and what to
// do about it.
func (f *tokenForge) wantDoubt(texts ...string) {
	f.T.Helper()
	sent := creations(f.tokenWorld.Platform)
	f.seawall("plan").Want(f.T, 4, append(texts, "unknown")...)
	f.seawall("apply").Want(f.T, 4, texts...)
	f.seawall("token", "list").Want(f.T, 0, "warning")
	if n := creations(f.tokenWorld.Platform) - sent; n != 0 {
		f.T.Errorf("%d creations were sent", n)
	}
}

// TestTokensOfALedgerThatWasPutBack: a ledger that has forgotten a token does
// not create it again, however the copy took its place, until a person has said
// what there is.
func TestTokensOfALedgerThatWasPutBack(t *testing.T) {
	t.Parallel()
	for name, put := range soak.Some(map[string]func(path string, backup []byte) error{
		"in place": func(path string, backup []byte) error { return os.WriteFile(path, backup, 0o600) },
		"moved over": func(path string, backup []byte) error {
			if err := os.WriteFile(path+".restored", backup, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".restored", path)
		},
		"for one that was lost": func(path string, backup []byte) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, backup, 0o600)
		},
	}, "in place") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTokenForge(t, "")
			copied, err := os.ReadFile(f.ledgerFile())
			must.Do(t, err)
			f.seawall("apply").Want(t, 0)
			f.ends()
			must.Do(t, put(f.ledgerFile(), copied))
			f.wantDoubt("restored", "seawall token init", "seawall token adopt KEY ID")
			for key, made := range made(f.tokenWorld.Platform) {
				if len(made) != 1 {
					t.Errorf("%s: %d exist", key, len(made))
				}
				f.seawall("token", "adopt", key, made[0].ID).Want(t, 0)
			}
			f.wantDoubt("restored", "seawall token init")
			f.seawall("token", "init").Want(t, 0)
			f.seawall("apply").Want(t, 0)
			f.ends()
			if n := creations(f.tokenWorld.Platform); n != len(tokenKeys) {
				t.Errorf("%d creations were sent in all", n)
			}
		})
	}
}

// TestTokensPutBackUnderALog: a copy is put back beside the log of a process that
// was killed. Whether SQLite plays the log over it or not, nothing is created
// twice.
func TestTokensPutBackUnderALog(t *testing.T) {
	t.Parallel()
	everyMoment(t, []string{"Intend", "CreateToken", "Confirm"}, func(t *testing.T, dies moment) bool {
		w := newTokenWorld(t)
		copied, err := os.ReadFile(w.ledgerFile())
		must.Do(t, err)
		survived := w.childThat(dies)
		must.Do(t, os.WriteFile(w.ledgerFile(), copied, 0o600))
		w.next()
		for key, made := range made(w.Platform) {
			if len(made) > 1 {
				t.Errorf("%s: %d exist", key, len(made))
			}
		}
		return survived
	})
}

// TestTokensOfAnEmptyLedger: nobody has said anything yet.
func TestTokensOfAnEmptyLedger(t *testing.T) {
	t.Parallel()
	f := newTokenForge(t, "")
	must.Do(t, os.RemoveAll(f.State))
	f.seawall("plan").Want(t, 4, "unknown", "there is no ledger yet", "seawall token init")
	f.seawall("apply").Want(t, 4, "first use: seawall token init was not run yet")
	f.wantDoubt("first use: seawall token init was not run yet", "seawall token init")
}

// TestTokensOfAnotherPlace: a ledger that was made for one platform and one
// repository creates nothing for others.
func TestTokensOfAnotherPlace(t *testing.T) {
	t.Parallel()
	f := newTokenForge(t, "")
	f.seawall("apply").Want(t, 0)
	fileSink := `file: root: "` + f.Sink + `"`

	other := harness.StartPlatform(t, harness.Fleet(1))
	f.configure("config.cue", other.BaseURL, f.Repository, fileSink)
	f.wantDoubt("made for another platform")
	f.seawall("token", "init").Want(t, 1, "tokens of another platform: 3")
	f.wantDoubt("made for another platform")

	repo := gittest.New(t)
	repo.Commit("edge.cue", harness.DeclareTokens(tokenKeys...))
	f.configure("config.cue", f.BaseURL, "file://"+repo.Dir, fileSink)
	f.wantDoubt("made for another repository")
	if n := creations(other); n != 0 {
		t.Errorf("%d creations were sent to the other platform", n)
	}
	f.configure("config.cue", f.BaseURL, f.Repository, fileSink)
	f.seawall("apply").Want(t, 0)
	f.ends()
}

// TestTokensAreHeld: while a process may create tokens another one does not.
func TestTokensAreHeld(t *testing.T) {
	t.Parallel()
	f := newTokenForge(t, "")
	f.locked(func(*ledger.Ledger) error {
		f.seawall("apply").Want(t, 4, "another process has locked the tokens of the ledger", "let that process manage the tokens")
		f.seawall("token", "init").Want(t, 1, "another process has locked the tokens of the ledger", "wait until that process is done")
		f.seawall("plan").Want(t, 0, "3 tokens")
		return nil
	})
	if n := creations(f.tokenWorld.Platform); n != 0 {
		t.Errorf("%d creations were sent", n)
	}

	f.quirks([]string{"slow=20ms"})
	var all sync.WaitGroup
	codes := make([]int, 3)
	for i := range codes {
		all.Go(func() {
			cmd := exec.Command(harness.Seawall(t), "apply", "--config", f.config())
			_ = cmd.Run()
			codes[i] = cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	converged := 0
	for _, code := range codes {
		if code == 0 {
			converged++
		}
	}
	if n := creations(f.tokenWorld.Platform); n != len(tokenKeys) || converged == 0 {
		t.Errorf("applies at once ended with %v and sent %d creations", codes, n)
	}
	f.quirks(nil)
	f.ends()
}
