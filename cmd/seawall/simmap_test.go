package main

import (
	"sync"

	"github.com/seawall-dev/seawall/edge/sim"
)

// syncMap keeps a simulator for each script that runs.
type syncMap struct{ m sync.Map }

func (s *syncMap) Store(key string, r *sim.Running) { s.m.Store(key, r) }

func (s *syncMap) Load(key string) (*sim.Running, bool) {
	v, ok := s.m.Load(key)
	if !ok {
		return nil, false
	}
	return v.(*sim.Running), true
}
