package ledger

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/soak"
)

// life is what a process does until it is killed: tokens that come all the way,
// and ways that end before.
var life = []op{
	{"intend", 1, 1, 0},
	{"confirm", 1, 1, 1},
	{"delivered", 1, 1, 0},
	{"intend", 2, 2, 0},
	{"quarantine", 2, 2, 0},
	{"adopt by resolving", 2, 2, 0},
	{"intend", 3, 1, 0},
	{"not created", 3, 1, 0},
	{"adopt", 4, 4, 0},
	{"intend", 5, 5, 0},
	{"confirm", 5, 5, 5},
	{"intend", 6, 6, 0},
	{"quarantine", 6, 6, 0},
	{"abandon", 6, 6, 0},
	{"delivered", 5, 5, 0},
	{"amend", 5, 5, 1},
	{"allow pruning", 5, 5, 0},
	{"forbid pruning", 5, 5, 0},
	{"intend", 7, 7, 0},
	{"quarantine", 7, 7, 0},
	{"confirm", 7, 7, 7}, // it was found
	{"gone", 7, 7, 0},    // with the secret that waited
	{"intend", 8, 7, 0},
	{"quarantine", 8, 7, 0},
	{"not created", 8, 7, 0}, // it was looked for and not found
}

// live does so many steps of life and then kills itself with SIGKILL: after the
// last one, or within the transaction of the one that would follow.
func live(path string, steps int, within bool) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	l.Binding = binding
	if err := l.LockTokens(context.Background()); err != nil {
		return err
	}
	ctx := context.Background()
	for _, o := range life[:steps] {
		if err := o.do(ctx, l); err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
	}
	inMidst = func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	if !within {
		return inMidst()
	}
	if err := onEachRow(l, "token", "sealed"); err != nil {
		return err
	}
	return life[steps].do(ctx, l)
}

// onEachRow has each change of a row of these tables call inMidst, within its transaction.
func onEachRow(l *Ledger, tables ...string) error {
	for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
		for _, table := range tables {
			if _, err := l.file.DB.Exec(`CREATE TEMP TRIGGER ` + table + event + ` AFTER ` + event + ` ON main.` + table + ` BEGIN SELECT in_the_midst(); END`); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestKilledAtEveryStep: after SIGKILL the ledger is where the last call that
// returned left it, sure of itself, free to be locked, and what waits can be
// opened. Neither the dead nor the living have written a secret in the clear.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	want := []model{{}}
	for _, o := range life {
		next, may := want[len(want)-1].do(o)
		if !may {
			t.Fatalf("the model refuses %v", o)
		}
		want = append(want, next)
	}
	for steps := range want {
		for _, within := range []bool{false, true} {
			if within && steps == len(life) {
				continue
			}
			if !within && steps%5 != 0 && !soak.On { // the next step, not committed, leaves the same
				continue
			}
			t.Run(fmt.Sprintf("%d %v", steps, within), func(t *testing.T) {
				t.Parallel()
				l := ready(t)
				must(t, l.Close())
				wantKilled(t, "life", l.file.Path, strconv.Itoa(steps), strconv.FormatBool(within))
				l = reopen(t, l.file.Path, binding)
				if d := want[steps].holds(t.Context(), l); d != "" {
					t.Error(d)
				}
				wantTokens(t, l, want[steps].records...)
				for n := range 8 {
					wantNowhere(t, l, "the secret", []byte(secret(n).Reveal()))
				}
				for i := steps; i < len(life); i++ { // life goes on
					must(t, life[i].do(t.Context(), l))
				}
				wantTokens(t, l, want[len(life)].records...)
			})
		}
	}
}

func wantKilled(t *testing.T, what string, args ...string) {
	t.Helper()
	command := run(t, what, args...)
	out, err := command.CombinedOutput()
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
}
