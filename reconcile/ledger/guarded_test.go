package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOneDaemon: the second daemon over a state folder does not start and says who has
// it, and one that is killed has it no longer.
func TestOneDaemon(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	other := run(t, "daemon", folder)
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if said := bufio.NewScanner(out); !said.Scan() || said.Text() != "locked" {
		t.Fatalf("the other daemon said %q", said.Text())
	}
	_, err = LockState(folder)
	host, _ := os.Hostname()
	wantFault(t, err, ErrRunning, fmt.Sprintf("process %d on %s, since %d-", other.Process.Pid, host, time.Now().UTC().Year()))
	l := mustOpen(t, filepath.Join(folder, "ledger.db")) // whoever is no daemon is not kept out
	mustLock(t, l)
	must(t, other.Process.Kill())
	_ = other.Wait()
	release, err := LockState(folder)
	must(t, err)
	_, err = LockState(folder)
	wantFault(t, err, ErrRunning, fmt.Sprintf("process %d on ", os.Getpid()))
	release()
	release() // is harmless
	again, err := LockState(folder)
	must(t, err)
	release() // and not about others
	_, err = LockState(folder)
	wantFault(t, err, ErrRunning, "")
	again()
}

// daemon locks a state folder, says so, and stays until it is killed.
func daemon(folder string) error {
	if _, err := LockState(folder); err != nil {
		return err
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
	return nil
}

// TestOthersMayWrite: neither a ledger nor a state folder that others may write to is
// touched, and whoever asks for it is told which and what to do.
func TestOthersMayWrite(t *testing.T) {
	for name, test := range map[string]struct {
		file string // in the folder; empty: the folder
		mode os.FileMode
		hint string
	}{
		"a folder of all":       {"", 0o777, "chmod go-w "},
		"a folder like /tmp":    {"", 0o777 | os.ModeSticky, "mkdir -m 700 "},
		"the ledger":            {"ledger.db", 0o606, "chmod 600 "},
		"the group's ledger":    {"ledger.db", 0o660, "chmod 600 "},
		"its log":               {"ledger.db-wal", 0o602, "chmod 600 "},
		"its lock":              {"ledger.db-lock", 0o666, "chmod 600 "},
		"its mark":              {"ledger.db-mark", 0o620, "chmod 600 "},
		"the lock of the state": {"daemon-lock", 0o666, "chmod 600 "},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			fill(t, path)
			folder := filepath.Dir(path)
			at := filepath.Join(folder, test.file)
			if _, err := os.Stat(at); os.IsNotExist(err) {
				must(t, os.WriteFile(at, nil, 0o600))
			}
			must(t, os.Chmod(at, test.mode))
			before := snapshot(t, folder)
			for what, open := range openings {
				if (test.file == "daemon-lock") != (what == "daemon") && test.file != "" {
					continue
				}
				err := open(path)
				wantFault(t, err, ErrExposed, fmt.Sprintf("%s has mode %04o", at, test.mode.Perm()))
				if told := new(Error); !errors.As(err, &told) || !strings.Contains(told.Hint, test.hint+at) {
					t.Errorf("%s: the hint is %q", what, told.Hint)
				}
			}
			if d := cmp.Diff(before, snapshot(t, folder)); d != "" {
				t.Errorf("files (-before +after):\n%.400s", d)
			}
			must(t, os.Chmod(at, test.mode&0o700))
			mustOpen(t, path)
		})
	}
}

// openings are the ways in which a program comes to a ledger.
var openings = map[string]func(path string) error{
	"daemon": func(path string) error {
		release, err := LockState(filepath.Dir(path))
		if err == nil {
			release()
		}
		return err
	},
	"write": func(path string) error { return closed(Open(path)) },
	"read":  func(path string) error { return closed(OpenReadOnly(path)) },
}

func closed(l *Ledger, err error) error {
	if err != nil {
		return err
	}
	return l.Close()
}

// TestNothingIsCreatedAmongOthers: a ledger that is not there yet is not made where
// others may write.
func TestNothingIsCreatedAmongOthers(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Chmod(folder, 0o777|os.ModeSticky))
	for _, open := range openings {
		wantFault(t, open(filepath.Join(folder, "ledger.db")), ErrExposed, folder)
	}
	if got := names(t, folder); len(got) > 0 {
		t.Errorf("created: %v", got)
	}
	below := filepath.Join(folder, "seawall", "ledger.db")
	for _, open := range openings {
		must(t, open(below)) // a folder of its own is made with mode 0700
	}
}

// TestGroupsOfFolders: a group is others, unless it is the user's own.
func TestGroupsOfFolders(t *testing.T) {
	me := os.Geteuid()
	for name, test := range map[string]struct {
		owner, group int
		fine         bool
	}{
		"mine, my own group":                {me, me, true},
		"a user's, his own group":           {4711, 4711, true},
		"a volume of Kubernetes":            {4711, me, true},
		"mine, a group of several users":    {me, 4712, false},
		"another's, a group of several too": {4711, 4712, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.Chown(folder, test.owner, test.group); err != nil {
				t.Skip("only root may give folders away:", err)
			}
			must(t, os.Chmod(folder, 0o775))
			err := openings["write"](filepath.Join(folder, "ledger.db"))
			if test.fine {
				must(t, err)
				return
			}
			wantFault(t, err, ErrExposed, "has mode 0775")
		})
	}
}
