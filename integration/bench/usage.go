//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/PID/stat, the same on every Linux of today.
const tick = 10 * time.Millisecond

// cpu returns the CPU time that a running process used so far, with that of the
// children it waited for (proc_pid_stat(5), members 14 to 17).
func cpu(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may contain anything.
	_, rest, _ := strings.Cut(string(data), ") ")
	members := strings.Fields(rest)
	if len(members) < 15 {
		return 0, fmt.Errorf("/proc/%d/stat has %d members", pid, len(members))
	}
	var sum time.Duration
	for _, member := range members[11:15] {
		ticks, err := strconv.ParseInt(member, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading /proc/%d/stat: %w", pid, err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

// memory returns what a running process has in memory, and the most that it has had, in bytes
// (VmRSS and VmHWM of proc_pid_status(5)).
func memory(pid int) (now, peak int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for text := range bytes.Lines(data) {
		var kibibytes int64
		name, rest, _ := bytes.Cut(text, []byte(":"))
		switch string(name) {
		case "VmRSS":
			_, err = fmt.Sscan(string(rest), &kibibytes)
			now = kibibytes << 10
		case "VmHWM":
			_, err = fmt.Sscan(string(rest), &kibibytes)
			peak = kibibytes << 10
		}
		if err != nil {
			return 0, 0, fmt.Errorf("reading /proc/%d/status: %w", pid, err)
		}
	}
	return now, peak, nil
}
