package daemon

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// answering is a daemon that has nothing to say.
type answering struct{}

func (answering) Status() inspect.Status                  { return inspect.Status{}.Judged() }
func (answering) Zones(string) (inspect.ZoneList, string) { return inspect.ZoneList{}, "" }

// A socket whose file was removed is made again, as often as that happens; what is in the folder of
// another daemon stays.
func TestARemovedSocketIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	path := inspect.SocketPath(dir)
	done := keptSocket{dir: dir, every: time.Millisecond, pages: inspect.Handler(answering{}), log: slog.New(slog.DiscardHandler)}.serve(t.Context())
	defer done()
	answers := func() bool { _, err := inspect.OnSocket(dir).Status(t.Context()); return err == nil }
	for range 3 {
		for begin := time.Now(); !answers(); time.Sleep(time.Millisecond) {
			if time.Since(begin) > time.Minute {
				t.Fatal("it does not answer again")
			}
		}
		must.Do(t, os.Remove(path))
	}
	for begin := time.Now(); !answers(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("it does not answer again")
		}
	}
	must.Do(t, os.Remove(path))
	must.Do(t, os.Rename(dir, dir+".away"))
	must.Do(t, os.Mkdir(dir, 0o700))
	theirs, err := inspect.Listen(dir)
	must.Do(t, err)
	defer theirs.Close()
	done()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket of another daemon: %v", err)
	}
}
