package daemon

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// manager is the service manager that started the process, such as systemd; where there is
// none, nothing is sent. The protocol is sd_notify(3).
type manager struct {
	failed sync.Once
	alive  atomic.Pointer[func() bool] // whether the daemon makes progress; nil until it runs

	serving func(page string) // is still to be told the address of the page; nil: no one is
}

// tell sends a state. The daemon works without, so a failure is logged once, and no more.
func (m *manager) tell(log *slog.Logger, state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		m.failed.Do(func() { log.Warn("the service manager cannot be notified", "error", err.Error()) })
	}
}

func (m *manager) ready(log *slog.Logger, status string) {
	m.tell(log, systemd.SdNotifyReady+"\nSTATUS="+status)
}

// reloading has the manager wait until [manager.ready]. The time tells it that this answers
// its own signal.
func (m *manager) reloading(log *slog.Logger) {
	m.tell(log, systemd.SdNotifyReloading+"\n"+systemd.SdNotifyMonotonicUsec())
}

func (m *manager) stopping(log *slog.Logger) { m.tell(log, systemd.SdNotifyStopping) }

// watchdog sends a sign of life until ctx ends, twice in the time that the manager waits
// for one, and none while the daemon makes no progress: the manager then restarts it.
func (m *manager) watchdog(ctx context.Context, log *slog.Logger) {
	wait, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the service manager cannot be notified", "error", err.Error())
	}
	if wait <= 0 {
		return
	}
	ticker := time.NewTicker(wait / 2)
	defer ticker.Stop()
	for {
		if alive := m.alive.Load(); alive == nil || (*alive)() {
			m.tell(log, systemd.SdNotifyWatchdog)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
