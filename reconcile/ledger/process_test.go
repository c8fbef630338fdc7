package ledger

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// child names what a re-executed test binary is to do instead of tests.
const child = "SEAWALL_LEDGER_TEST_CHILD"

// served are the tests, and the end of the server that they share.
type served struct{ *testing.M }

func (s served) Run() int { return pgtest.Main(s.M) }

func TestMain(m *testing.M) {
	syscall.Umask(0o022) // folders of tests are like those of people
	what := os.Getenv(child)
	if what == "" {
		// Most of these tests wait for a server or another process; -parallel still has the last word.
		if err := flag.Set("test.parallel", "12"); err != nil {
			panic(err)
		}
		os.Exit(soak.Main(served{m}, 15)) // each draw writes ledgers
	}
	if err := children[what](os.Args[1], append(os.Args[2:], "", "")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// children are what a re-executed test binary does at a path, with arguments.
var children = map[string]func(path string, args []string) error{
	"generations": func(path string, _ []string) error { return generations(path) },
	"rows":        func(path string, args []string) error { return settleEach(path, number(args[0])) },
	"create":      func(path string, args []string) error { return createHalf(path, number(args[0])) },
	"record":      func(path string, args []string) error { return recordHalf(path, number(args[0]), number(args[1])) },
	"workers":     func(path string, _ []string) error { return workers(path) },
	"claim":       func(path string, _ []string) error { return claimForEver(path) },
	"daemon":      func(path string, _ []string) error { return daemon(path) },
	"written":     func(path string, args []string) error { return writeTillKilled(path, number(args[0])) },
	"life":        func(path string, args []string) error { return live(path, number(args[0]), args[1] == "true") },
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// openAny opens a file, or connects to a database.
func openAny(path string) (*Ledger, error) {
	if strings.HasPrefix(path, "postgres://") {
		return Connect(context.Background(), postgres.Config{URL: path})
	}
	return Open(path)
}

// generations settles the same deployments for ever, each time with the next
// number, and says each number once it is settled.
func generations(path string) error {
	l, err := openAny(path)
	for n := 1; err == nil; n++ {
		all := make([]diff.Settled, 100)
		for i := range all {
			all[i] = settled(deployment(i), diff.Member(strconv.Itoa(n)))[0]
		}
		if err = l.Prove(context.Background(), "c", nil, all); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

// settleEach settles deployments one by one.
func settleEach(path string, first int) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	for i := range rowsPerProcess {
		if err := l.Prove(context.Background(), "c", nil, settled(deployment(first+i), "a")); err != nil {
			return err
		}
		if _, err := l.Restore(context.Background()); err != nil {
			return err
		}
	}
	return l.Close()
}

const rowsPerProcess = 40

// TestKilledBetweenWrites: what a process has said to be settled is settled
// after kill -9, and nothing is settled by half.
func TestKilledBetweenWrites(t *testing.T) {
	t.Run("file", func(t *testing.T) { testKilledBetweenWrites(t, newPath(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { testKilledBetweenWrites(t, begun(t)) })
}

func testKilledBetweenWrites(t *testing.T, path string) {
	for _, after := range []int{1, 3, 8} {
		said := killAfter(t, path, after)
		l, err := openAny(path)
		must(t, err)
		got, err := l.Restore(t.Context())
		must(t, err)
		found := map[diff.Member]int{}
		for _, members := range got.Applied {
			found[members[0]]++
		}
		if len(found) != 1 || len(got.Applied) != 100 {
			t.Fatalf("rows of several generations, or too few: %v", found)
		}
		for member := range found {
			if n, err := strconv.Atoi(string(member)); err != nil || n != said && n != said+1 {
				t.Errorf("generation %s is on the disk, %d was said to be", member, said)
			}
		}
		// The next process starts again at 1, over what the killed one left.
		must(t, l.Close())
	}
}

// killAfter lets a process write until it has said so many generations, kills
// it and returns the last one it had time to say.
func killAfter(t *testing.T, path string, lines int) (last int) {
	t.Helper()
	command := run(t, "generations", path)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	scanner := bufio.NewScanner(out)
	for seen := 0; scanner.Scan(); {
		if last, err = strconv.Atoi(scanner.Text()); err != nil {
			t.Fatal(err)
		}
		if seen++; seen == lines {
			must(t, command.Process.Kill())
		}
	}
	if err := command.Wait(); err == nil || command.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
	return last
}

// TestProcessesAtOnce: four processes create, write and read one ledger, and a
// reader looks on.
func TestProcessesAtOnce(t *testing.T) {
	path := newPath(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			command := run(t, "rows", path, strconv.Itoa(i*rowsPerProcess))
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for seen := 0; ; {
		select {
		case <-done:
			if got, err := mustOpen(t, path).Restore(t.Context()); err != nil || len(got.Applied) != 4*rowsPerProcess {
				t.Fatalf("%d rows (%v), want %d", len(got.Applied), err, 4*rowsPerProcess)
			}
			if got := names(t, filepath.Dir(path)); got[0] != "ledger.db false" {
				t.Errorf("creating left something behind: %v", got)
			}
			return
		default:
			seen = look(t, path, seen)
		}
	}
}

// look recalls beside the writers; rows only ever come.
func look(t *testing.T, path string, seen int) int {
	t.Helper()
	l := mustRead(t, path)
	got, err := l.Restore(t.Context())
	if err != nil || len(got.Applied) < seen {
		t.Fatalf("%d rows (%v) where there were %d", len(got.Applied), err, seen)
	}
	return len(got.Applied)
}

func run(t *testing.T, what string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	command := exec.CommandContext(t.Context(), self, args...)
	command.Env = append(os.Environ(), child+"="+what)
	return command
}
