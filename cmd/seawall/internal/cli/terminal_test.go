package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// Output that cannot be written is a failure, whatever the command says; a reader that wants no more is none.
func TestLostOutputIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /dev/full")
	}
	must.Do(t, err)
	defer full.Close()
	for _, said := range []error{nil, ExitAttention} {
		told, err := os.Create(t.TempDir() + "/err")
		must.Do(t, err)
		terminal := NewTerminal(os.Stdin, full, told)
		fmt.Fprintln(terminal.Out, "a line")
		if code := terminal.exitCode(said); code != 1 {
			t.Errorf("after %v: %d", said, code)
		}
		if text, _ := os.ReadFile(told.Name()); !strings.Contains(string(text), "no space left on device") {
			t.Errorf("told %q", text)
		}
		told.Close()
	}
	read, write, err := os.Pipe()
	must.Do(t, err, read.Close())
	defer write.Close()
	_, err = (&noting{to: write}).Write([]byte("a line"))
	lost := &noting{first: err}
	if !errors.Is(err, syscall.EPIPE) || lost.failed() != nil {
		t.Errorf("a closed pipe: %v, %v", err, lost.failed())
	}
}
