// Package sandbox takes from a process, for good, what its job does not need: files
// beyond a list, sockets, other programs. It is for worker processes, whose input others
// wrote, and rests on what Linux offers to every process without a right of its own:
//
//	Landlock   which files may be read and written, and to which TCP ports it may connect;
//	           no signal to a process outside, no abstract Unix socket outside
//	seccomp    no socket at all for a job without network, no other program for a job that
//	           starts none, and none of the calls by which sandboxes were left before
//
// Both also take away new privileges. Nothing is asked of namespaces: they may not be made
// in most containers and under the systemd unit that is delivered, and a process without
// sockets needs no network of its own.
//
//	err := restrict.Process(sandbox.Policy{Read: []string{"/var/lib/seawall/git"}})
//
// Package restrict does it. What the kernel lacks is left out; [Here] says what there is.
package sandbox

import (
	"fmt"
	"strings"
)

// Policy is what a process may still do. The zero Policy allows no file, no socket and no
// program.
type Policy struct {
	Read  []string `json:"read,omitempty"`  // files and folders; one that is not there is left out
	Write []string `json:"write,omitempty"` // files and folders, which it may read, too
	// Connect are the TCP ports it may connect to. Without one there are no sockets.
	Connect []uint16 `json:"connect,omitempty"`
	// Programs allows to start the programs among Read.
	Programs bool `json:"programs,omitempty"`
}

// Support is what this machine offers.
type Support struct {
	Landlock int  // the version of its ABI; 0 for none
	Seccomp  bool // filters of system calls
}

// The versions of Landlock's ABI that brought what a [Policy] asks for.
const (
	landlockRename = 2 // without it no file can be moved to another folder
	landlockTCP    = 4
	landlockScopes = 6
)

// Missing is what this machine lacks of a complete sandbox; empty for nothing.
func (s Support) Missing() (missing []string) {
	switch {
	case s.Landlock == 0:
		missing = append(missing, "landlock")
	case s.Landlock < landlockTCP:
		missing = append(missing, "landlock for TCP ports (Linux 6.7)")
	case s.Landlock < landlockScopes:
		missing = append(missing, "landlock for signals (Linux 6.12)")
	}
	if !s.Seccomp {
		missing = append(missing, "seccomp")
	}
	return missing
}

// String is one line: "landlock ABI 7, seccomp".
func (s Support) String() string {
	var have []string
	if s.Landlock > 0 {
		have = append(have, fmt.Sprintf("landlock ABI %d", s.Landlock))
	}
	if s.Seccomp {
		have = append(have, "seccomp")
	}
	if len(have) == 0 {
		return "none"
	}
	return strings.Join(have, ", ")
}
