//go:build !linux

// Package restrict restricts nothing on this system.
package restrict

import "github.com/seawall-dev/seawall/desired/worker/sandbox"

// Process does nothing.
func Process(sandbox.Policy) error { return nil }
