//go:build !linux

package lease

import "time"

var began = time.Now()

// sinceBoot is a clock that nothing sets. While the machine is suspended it runs on where the system
// has it so.
func sinceBoot() time.Duration { return time.Since(began) }
