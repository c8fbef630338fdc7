package outage

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// TestThePlatformThatIsSlow: what still fails after an outage of the platform is single zones, also
// where each answer is noted after a failure that its request came before.
func TestThePlatformThatIsSlow(t *testing.T) {
	h := newHistory(20)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
		h.pass(time.Second)
	}
	const platform = `platform "": no answer from the platform, zones 20`
	h.want(t, "began "+platform)
	for i := range 300 {
		h.pass(time.Second)
		h.Zone(zoneNumber(i%2), errReset)
		z := zoneNumber(2 + i%18)
		z.Asked = h.now.Add(-3 * time.Second)
		h.Zone(z, nil)
	}
	h.want(t, "ended "+platform, `began zone "zone-1.example, zone-0.example": no answer from the platform, zones 2`)
}

// TestALateAnswerEndsNothing: nor does an answer to what was asked for within an outage, before it
// failed again.
func TestALateAnswerEndsNothing(t *testing.T) {
	h := newHistory(20)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
		h.pass(time.Second)
	}
	const platform = `platform "": no answer from the platform, zones 20`
	h.want(t, "began "+platform)
	h.Zone(zoneNumber(1), nil)
	asked := h.now
	h.pass(time.Second)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
	}
	z := zoneNumber(2)
	z.Asked, z.Answered = asked, true
	h.Zone(z, errReset)
	h.pass(time.Minute) // all wait for the next try
	h.want(t)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
	}
	h.pass(time.Hour)
	h.Zone(zoneNumber(1), nil)
	h.Zone(zoneNumber(2), errReset)
	h.pass(9 * time.Second)
	h.want(t) // it was away for an hour: one answer is not the turns of two minutes
	h.Zone(zoneNumber(1), nil)
	h.pass(time.Minute)
	h.want(t, "ended "+platform)
}

// TestZonesThatStay: an outage of zones that is left by those that it was named after is named after
// the others.
func TestZonesThatStay(t *testing.T) {
	h := newHistory(20)
	h.fiveZonesFail()
	h.told = nil
	for i := range 20 {
		if i != 3 && i != 4 { // they are tried later
			h.Zone(zoneNumber(i), errReset)
		}
	}
	h.pass(20 * time.Second)
	h.want(t, `began platform "": no answer from the platform, zones 20`)
	for i := 5; i < 20; i++ {
		h.Zone(zoneNumber(i), nil)
	}
	h.pass(time.Minute)
	h.told = nil
	h.Zone(zoneNumber(3), nil)
	h.Zone(zoneNumber(4), nil)
	h.pass(time.Minute)
	if len(h.told) != 1 || !strings.HasPrefix(h.told[0], `ended zone "zone-3.example, zone-4.example`) {
		t.Errorf("told %q", h.told)
	}
}

// TestAnAccountThatWasTheFirst: what was told as an account's, and turns out to be the platform's, goes
// over into that; an account that has failed for long stays what it is. That it fails is no sign that
// the platform does.
func TestAnAccountThatWasTheFirst(t *testing.T) {
	for name, test := range map[string]struct {
		before int // rounds in which the account alone fails
		want   []string
	}{
		"shortly before": {3, []string{
			`began platform "": no answer from the platform, zones 20`, `ended account "other": no answer from the platform, zones 5`,
		}},
		"long before": {30, []string{`began platform "": no answer from the platform, zones 20`}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(20)
			account := func() {
				for i := range 5 {
					z := zoneNumber(i)
					z.Account, z.OfAccount = "other", true
					h.Zone(z, errReset)
				}
			}
			for range test.before {
				account()
				h.pass(6 * time.Second)
				h.Zone(zoneNumber(9), nil)
			}
			h.want(t, `began account "other": no answer from the platform, zones 5`)
			account()
			h.pass(20 * time.Second)
			h.Zone(zoneNumber(10), errReset) // for a moment
			h.pass(5 * time.Second)
			h.Zone(zoneNumber(10), nil)
			h.want(t)
			account()
			for i := 5; i < 20; i++ {
				h.Zone(zoneNumber(i), errReset)
			}
			h.pass(time.Minute)
			h.want(t, test.want...)
		})
	}
}

// TestAZoneThatIsNoLongerDeclared: nothing is told of one that has failed just before.
func TestAZoneThatIsNoLongerDeclared(t *testing.T) {
	h := newHistory(20)
	h.Zone(zoneNumber(3), errDenied)
	h.Declare(19, func(id edge.Scope) bool { return id != zoneNumber(3).Scope })
	for i := range 60 {
		h.Zone(zoneNumber(4+i%10), nil)
		h.pass(5 * time.Second)
	}
	h.want(t)
}

// TestABrokenZoneBeside: a zone that has failed for long says nothing of when the platform fell silent.
func TestABrokenZoneBeside(t *testing.T) {
	begin := func(t *testing.T) *history {
		h := newHistory(20)
		for i := range 30 {
			h.Zone(zoneNumber(19), errReset)
			h.Zone(zoneNumber(i%19), nil)
			h.pass(10 * time.Second)
		}
		h.want(t, `began zone "zone-19.example": no answer from the platform, zones 1`)
		h.Zone(zoneNumber(19), errReset)
		h.pass(20 * time.Second)
		return h
	}
	t.Run("three fail for a moment", func(t *testing.T) {
		h := begin(t)
		for i := range 3 {
			h.Zone(zoneNumber(i), errReset)
		}
		h.pass(time.Second)
		h.Zone(zoneNumber(5), nil)
		h.pass(20 * time.Second)
		h.want(t)
	})
	t.Run("an answer comes late", func(t *testing.T) {
		h := begin(t)
		asked := h.now
		h.pass(time.Second)
		for i := range 3 {
			h.Zone(zoneNumber(i), errReset)
		}
		h.pass(time.Second)
		z := zoneNumber(5)
		z.Asked = asked
		h.Zone(z, nil)
		h.pass(20 * time.Second) // none is tried
		h.want(t, `began platform "": no answer from the platform, zones 20`)
	})
}

// TestTheCauseIsToldBeforeTheEnd: of what goes over into the platform's outage, too.
func TestTheCauseIsToldBeforeTheEnd(t *testing.T) {
	h := newHistory(1)
	h.Zone(zoneNumber(0), errDenied)
	h.pass(3 * time.Minute)
	h.want(t, `began zone "zone-0.example": the platform answers 403 Forbidden: Authentication error (code 10000), zones 1`)
	h.Zone(zoneNumber(0), errReset)
	h.pass(time.Minute)
	h.want(t, `changed zone "zone-0.example": no answer from the platform, zones 1`)
}
