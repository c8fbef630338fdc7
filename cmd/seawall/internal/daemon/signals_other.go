//go:build !unix

package daemon

// notify has nothing to do: the system has no such signals.
func (signals) notify() {}

func (signals) stop() {}
