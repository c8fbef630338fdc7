package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a terminal of 100 columns: the person's and the
// program's.
func openTerminal() (person, program *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		return nil, nil, errors.Join(err, unix.Close(fd))
	}
	person = os.NewFile(uintptr(fd), "ptmx")
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, errors.Join(err, person.Close())
	}
	return person, program, nil
}

// answers is what a person types once what is on the terminal holds a text.
type answers struct{ after, text string }

// onTerminal runs seawall on a terminal and returns all that it has shown. Input is
// typed when the terminal shows what it waits for; "\x03" is Ctrl-C.
func onTerminal(ctx context.Context, env []string, dir string, typed []answers, args ...string) (shown string, code int, err error) {
	person, program, err := openTerminal()
	if err != nil {
		return "", 0, err
	}
	defer person.Close()
	cmd := exec.CommandContext(ctx, "seawall", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	program.Close()
	var screen bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() {
		buffer, from := make([]byte, 4096), 0
		for {
			n, err := person.Read(buffer) // EIO once the program has ended
			screen.Write(buffer[:n])
			for len(typed) > 0 && strings.Contains(screen.String()[from:], typed[0].after) {
				from = screen.Len()
				fmt.Fprint(person, typed[0].text)
				typed = typed[1:]
			}
			if err != nil {
				return
			}
		}
	})
	err = cmd.Wait()
	reading.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return screen.String(), exit.ExitCode(), nil
	}
	return screen.String(), 0, err
}

// ttyCommand is the script command tty.
func ttyCommand(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 4, many, "tty CODE AFTER INPUT ARG…")
	want := number(ts, args[0])
	env := []string{"TERM=xterm", "GOGC=" + fewCollections}
	for _, name := range []string{"PATH", "HOME", "NO_COLOR", "GORACE", "SEAWALL_CONFIG", "SEAWALL_RULESETS_TOKEN", "SEAWALL_TOKENS_TOKEN", "XDG_STATE_HOME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	shown, code, err := onTerminal(ctx, env, ts.MkAbs("."), []answers{{args[1], unescape(ts, args[2])}}, args[3:]...)
	ts.Check(err)
	ts.Logf("%q", shown)
	ts.Check(os.WriteFile(ts.MkAbs("tty.out"), []byte(strings.ReplaceAll(shown, "\r\n", "\n")), 0o644))
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// awaitWrites is the script command writes.
func awaitWrites(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 1, "writes N")
	want := number(ts, args[0])
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		n := 0
		for _, entry := range theSim(ts).Transcript() {
			if entry.Method == "PATCH" {
				n++
			}
		}
		if n >= want {
			return
		}
	}
	ts.Fatalf("there were no %d writes", want)
}

// fleetCommand is the script command fleet.
func fleetCommand(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 3, 3, "fleet FILE N PARANOIA")
	writeZones(ts, args[0], "account: prod: ruleset: core: name: \"Core Ruleset\"\n", args[1], func(i int) string {
		return fmt.Sprintf(`"zone-%05d.example": {id: "f1ee%028d", waf: core: paranoia: %s}`, i+1, i+1, args[2])
	})
}
