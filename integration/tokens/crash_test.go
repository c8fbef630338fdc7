package tokens

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// crashJob is the variable by which the test binary, started again, is told to
// make one run instead of testing.
const crashJob = "SEAWALL_TEST_CRASH"

// crashOrder is its value.
type crashOrder struct {
	tokenPlace
	moment
}

// moment is when a process dies. It travels as JSON, too.
type moment struct {
	At    int    // counted from 1; 0 is never
	After string // the step to die after, the first time; empty is none
}

// crashWhenTold makes the run and ends the process, where there is an order.
func crashWhenTold() {
	text, ok := os.LookupEnv(crashJob)
	if !ok {
		return
	}
	var order crashOrder
	err := json.Unmarshal([]byte(text), &order)
	if err == nil {
		err = order.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (o crashOrder) run() error {
	l, err := o.open(ledger.Open)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.LockTokens(context.Background()); err != nil {
		return err
	}
	r, err := o.tokenPlace.run(l)
	if err != nil {
		return err
	}
	m := &mortal{at: o.At, after: o.After, die: killed}
	m.takes(&r.tokens)
	return r.apply(context.Background()).Err
}

// killed ends the process as nothing can prevent.
func killed() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // it need not take effect at once
}

// child makes a run in a process of its own, to die at some moment, and reports whether it lived to the
// end. No secret is anywhere in the clear afterwards but in the sink.
func (w *tokenWorld) child(at int) (survived bool) {
	w.T.Helper()
	return w.childThat(moment{At: at})
}

func (w *tokenWorld) childAfter(step string) (survived bool) {
	w.T.Helper()
	return w.childThat(moment{After: step})
}

func (w *tokenWorld) childThat(dies moment) (survived bool) {
	w.T.Helper()
	return w.ordered(crashOrder{w.tokenPlace, dies})
}

func (w *tokenWorld) ordered(o crashOrder) (survived bool) {
	w.T.Helper()
	order, err := json.Marshal(o)
	must.Do(w.T, err)
	cmd := exec.CommandContext(w.T.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashJob+"="+string(order))
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &told
	err = cmd.Run()
	nowhere(w.Platform, "what was told", told.Bytes())
	nowhereBelow(w.Platform, w.State)
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case err == nil:
		return true
	case !ok || status.Signal() != syscall.SIGKILL:
		w.T.Fatalf("the run failed: %v\n%s", err, told.String())
	}
	return false
}

// creation are the steps by which a token is made. Those of several tokens are the same,
// and before a step all is as after the one before it.
var creation = []string{"Tokens", "Intend", "CreateToken", "Confirm", "Deliver", "Delivered"}

// TestTokensKilledAtEveryStep: wherever the process dies, the next one finds out
// what may have happened, creates nothing twice, and brings every secret that was
// recorded to its sink. What nobody can know waits for a person.
func TestTokensKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	quarantined := 0
	moments := everyMoment(t, creation, func(t *testing.T, dies moment) bool {
		w := newTokenWorld(t)
		survived := w.childThat(dies)
		w.holds()
		quarantined += w.recover()
		return survived
	})
	// Tokens, at least once, and five steps for each of three tokens, each before
	// and after; and the one that lives.
	if least := 2*(1+5*len(tokenKeys)) + 1; moments < least && soak.On {
		t.Errorf("the run has %d moments, want %d or more", moments, least)
	}
	// Of each token: after intend, after create, and before confirm. Before create
	// nothing is on record: it is recorded directly before it is sent.
	want := 3 * len(tokenKeys)
	if !soak.On {
		want = 2 // of the first
	}
	if quarantined != want {
		t.Errorf("a person was needed %d times, want %d", quarantined, want)
	}
}

// TestTokensKilledTwice: the process that cleans up may die as well. Each of its
// steps is tried by the long tests; here every fourth.
func TestTokensKilledTwice(t *testing.T) {
	t.Parallel()
	stride := 4
	if soak.On {
		stride = 1
	}
	first := map[string]string{"unknown": "CreateToken", "sealed": "Confirm"} // died after it
	for name, step := range first {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at, survived := 1, false; !survived; at += stride {
				w := newTokenWorld(t)
				if w.childAfter(step) {
					t.Fatal("the first process lived")
				}
				survived = w.child(at)
				w.holds()
				w.recover()
			}
		})
	}
}

// recover lets two more processes run, then a person and a third one. It returns
// how often the person was needed.
func (w *tokenWorld) recover() (quarantined int) {
	w.T.Helper()
	w.next()
	w.holds()
	before := creations(w.Platform)
	w.next()
	w.holds()
	if n := creations(w.Platform) - before; n != 0 {
		w.T.Errorf("without a word of a person %d more were created", n)
	}
	quarantined = w.resolve()
	w.next()
	w.ends()
	return quarantined
}

// next makes a run that does not die: as a process in a soak, and otherwise here, with
// the ledger opened anew.
func (w *tokenWorld) next() {
	w.T.Helper()
	if soak.On {
		w.child(0)
		return
	}
	if report := w.runOnce(); report.Err != nil {
		w.T.Fatalf("the run failed: %v", report.Err)
	}
	nowhereBelow(w.Platform, w.State)
}
