package main

import "time"

// planting is drift that was planted and is not healed yet.
type planting struct {
	*fixture
	zones []zone
	turn  int
	since map[zone]time.Time
}

// next makes another zone drift, the one whose turn it is among those that do
// not. Where all of them do, it returns 0.
func (p *planting) next() (zone, error) {
	for range p.zones {
		z := p.zones[p.turn%len(p.zones)]
		p.turn++
		if _, drifts := p.since[z]; drifts {
			continue
		}
		if err := p.plant(z); err != nil {
			return 0, err
		}
		p.since[z] = time.Now()
		return z, nil
	}
	return 0, nil
}

// harvest returns how long the drift took that is healed by now.
func (p *planting) harvest() map[zone]time.Duration {
	healed := map[zone]time.Duration{}
	for z, at := range p.since {
		if p.isLive(z) {
			healed[z] = time.Since(at)
			delete(p.since, z)
		}
	}
	return healed
}
