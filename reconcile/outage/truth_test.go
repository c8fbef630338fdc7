package outage

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestWhatIsToldIsTrue: looks take time, some zones never answer, an account's list does not, and the
// platform falls silent now and then. Its outage is told each time, ends each time, and is told at no
// other time.
func TestWhatIsToldIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fleet := rapid.IntRange(4, 14).Draw(t, "fleet")
		h := newHistory(fleet)
		broken := map[int]bool{} // at most so many that two others are left
		for range rapid.IntRange(0, fleet-2).Draw(t, "broken") {
			broken[rapid.IntRange(2, fleet-1).Draw(t, "which")] = true
		}
		ofAccount := rapid.Bool().Draw(t, "they are of an account")
		slowest := rapid.IntRange(0, 5).Draw(t, "slowest")
		down := false
		type look struct {
			at   time.Time // when it is noted
			from time.Time // when it began
			away bool
		}
		under := map[int]look{}
		run := func(d time.Duration) {
			for end := h.now.Add(d); h.now.Before(end); h.pass(time.Second) {
				for i := range fleet {
					l, looks := under[i]
					if !looks {
						gap := 3 // of two zones that work, which are read often
						if i > 1 {
							gap = rapid.SampledFrom([]int{1, 5, 30, 45}).Draw(t, "gap")
						}
						from := h.now.Add(time.Duration(gap) * time.Second)
						under[i] = look{from: from, at: from.Add(time.Duration(rapid.IntRange(0, slowest).Draw(t, "takes")) * time.Second)}
						continue
					}
					if l.from.Equal(h.now) {
						l.away = down || broken[i]
						under[i] = l
					}
					if h.now.Before(l.at) {
						continue
					}
					delete(under, i)
					z := zoneNumber(i)
					z.Asked, z.OfAccount = l.from, ofAccount && broken[i]
					if z.OfAccount {
						z.Account = "other"
					}
					if l.away {
						h.Zone(z, errReset)
					} else {
						h.Zone(z, nil)
					}
				}
			}
		}
		platform := func() (lasts bool) {
			for _, o := range h.Outages() {
				lasts = lasts || o.Subject == reconcile.OutagePlatform
			}
			return lasts
		}
		events := func(kind, subject string) (n int) {
			for _, line := range h.told {
				if strings.HasPrefix(line, kind+" "+subject) {
					n++
				}
			}
			return n
		}
		times := rapid.IntRange(0, 3).Draw(t, "times")
		for n := range times {
			run(time.Duration(rapid.IntRange(10, 400).Draw(t, "works")) * time.Second)
			run(3 * time.Minute)
			if platform() || events("began", "platform") != n || events("ended", "platform") != n {
				t.Fatalf("the platform works: told %q", h.told)
			}
			down = true
			run(3 * time.Minute)
			if !platform() || events("began", "platform") != n+1 {
				t.Fatalf("the platform is down: told %q", h.told)
			}
			down = false
		}
		run(3 * time.Minute)
		if platform() {
			t.Fatalf("the platform works: told %q", h.told)
		}
		lasting := 0
		for _, o := range h.Outages() {
			lasting += o.Zones
		}
		if lasting < len(broken) {
			t.Fatalf("%d zones are broken: %+v, told %q", len(broken), h.Outages(), h.told)
		}
		clear(broken)
		run(time.Hour / 4)
		if list := h.Outages(); len(list) > 0 {
			t.Fatalf("all works: %+v", list)
		}
		for _, subject := range []string{"platform", "zone", "account"} {
			if began, ended := events("began", subject), events("ended", subject); began != ended || began > 2*times+2 {
				t.Fatalf("%s: %d began, %d ended: %q", subject, began, ended, h.told)
			}
		}
	})
}

// holds reports what is inconsistent in a tracker: a zone is in one outage at most, and is found there.
func (t *Tracker) holds() error {
	unexplained := 0
	for _, is := range t.streak {
		if is {
			unexplained++
		}
	}
	if unexplained != t.unexplained {
		return errors.New("the streak is miscounted")
	}
	for id, i := range t.of {
		if _, fails := i.failing[part{zone: id}]; !fails || t.open[i.key] != i {
			return errors.New("zone " + id.String() + " is in an outage that does not know it: " + i.key)
		}
	}
	for _, i := range t.open {
		for of := range i.failing {
			if i.subject != reconcile.OutageState && i.subject != reconcile.OutageCredential && of.zone != (edge.Scope{}) && t.of[of.zone] != i {
				return errors.New("outage " + i.key + " has a zone of another: " + of.zone.String())
			}
		}
		if i.pending && !i.began && len(i.failing) == 0 {
			return errors.New("nothing fails in what is gathered: " + i.key)
		}
	}
	return nil
}
