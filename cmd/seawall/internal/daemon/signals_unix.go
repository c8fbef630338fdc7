//go:build unix

package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// notify has the signals to a daemon sent to it: SIGHUP reloads, SIGUSR1 has every zone read.
func (s signals) notify() {
	signal.Notify(s.reload, syscall.SIGHUP)
	signal.Notify(s.look, syscall.SIGUSR1)
}

func (s signals) stop() {
	for _, c := range []chan os.Signal{s.reload, s.look} {
		signal.Stop(c)
	}
}
