package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is a clock that runs on while the machine is suspended.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("reading CLOCK_BOOTTIME, which each Linux since 2.6.39 has: " + err.Error())
	}
	return time.Duration(t.Nano())
}
