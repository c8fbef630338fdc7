package outage

import (
	"testing"
	"time"
)

// TestAnAnswerThatComesLateIsNoEvidence: nor is what was asked before the first failure and is noted
// after it, as on a busy machine, where no zone is tried again soon.
func TestAnAnswerThatComesLateIsNoEvidence(t *testing.T) {
	for name, late := range map[string]error{"read": nil, "read, and the write failed": errReset} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(20)
			asked := h.now
			h.pass(time.Second)
			for i := range 13 {
				h.Zone(zoneNumber(i), errReset)
			}
			h.pass(2 * time.Second)
			for i := 13; i < 16; i++ {
				z := zoneNumber(i)
				z.Asked, z.Answered = asked, true
				h.Zone(z, late)
			}
			h.pass(12 * time.Second)
			for i := range 20 {
				h.Zone(zoneNumber(i), errReset)
				h.pass(time.Second)
			}
			h.want(t, `began platform "": no answer from the platform, zones 20`)
			h.Zone(zoneNumber(1), nil)
			h.pass(time.Minute)
			h.want(t, `ended platform "": no answer from the platform, zones 20`)
		})
	}
}

// TestThePlatformBesideAZone: an outage of a zone hides none of the platform, and takes it for no more
// than it is: that zone fails before and after.
func TestThePlatformBesideAZone(t *testing.T) {
	h := newHistory(20)
	round := func(others error) {
		for i := range 20 {
			h.Zone(zoneNumber(i), map[bool]error{true: errReset, false: others}[i == 19])
		}
		h.pass(10 * time.Second)
	}
	for range 20 {
		round(nil)
	}
	const zone = `zone "zone-19.example": no answer from the platform, zones 1`
	h.want(t, "began "+zone)
	for range 5 {
		round(errReset)
	}
	h.want(t, `began platform "": no answer from the platform, zones 20`)
	for range 5 {
		round(nil)
	}
	h.want(t, `ended platform "": no answer from the platform, zones 20`)
	h.Zone(zoneNumber(19), nil)
	h.pass(time.Minute)
	h.want(t, "ended "+zone)
}

// fiveZonesFail has an outage of five zones begin beside one that works.
func (h *history) fiveZonesFail() {
	for range 3 {
		for i := range 5 {
			h.Zone(zoneNumber(i), errReset)
		}
		h.pass(6 * time.Second)
		h.Zone(zoneNumber(9), nil)
	}
}

// TestZonesThatWereTheFirst: what was told as an outage of zones, and turns out to be the platform's,
// goes over into that. Zones that are tried again while no other is are no outage of the platform.
func TestZonesThatWereTheFirst(t *testing.T) {
	h := newHistory(20)
	h.fiveZonesFail()
	const zones = `zone "zone-0.example, zone-1.example, zone-2.example and 2 more": no answer from the platform, zones 5`
	h.want(t, "began "+zones)
	for range 5 {
		for i := range 5 {
			h.Zone(zoneNumber(i), errReset)
		}
		h.pass(10 * time.Second)
	}
	h.want(t)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
		h.pass(time.Second)
	}
	h.pass(time.Minute)
	h.want(t, `began platform "": no answer from the platform, zones 20`,
		`ended zone "zone-0.example, zone-1.example, zone-2.example and 12 more": no answer from the platform, zones 15`)
	h.Zone(zoneNumber(1), nil)
	h.pass(time.Minute)
	h.want(t, `ended platform "": no answer from the platform, zones 20`)
}
