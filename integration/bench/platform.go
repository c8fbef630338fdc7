//go:build linux

package main

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/sim"
)

// platform is a simulated fleet.
type platform struct {
	*sim.Running
	config sim.Config
}

func startPlatform(f fleet, latency time.Duration) (p platform, err error) {
	p.config = f.tree(lowest).Platform()
	if latency > 0 {
		p.config.Quirks = []string{"slow=" + latency.String()}
	}
	p.Running, err = sim.Start(p.config)
	return p, err
}

// requests is how many there were since they were last forgotten.
func (p platform) requests() int { return len(p.Transcript()) }

// drift gives every zone the entry point that it had at first.
func (p platform) drift() error {
	for _, zone := range p.config.Seed.Zones {
		if err := p.Platform.SetEntryPoint(edge.ZoneScope(zone.ID), *zone.EntryPoint); err != nil {
			return err
		}
	}
	return nil
}
