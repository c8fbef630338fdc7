package controller

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/outage"
)

// TestOutages: each fault is one outage, of what it is in, that begins and ends once.
func TestOutages(t *testing.T) {
	const n = 40
	for name, test := range map[string]struct {
		begin func(f *fixture)
		want  string
	}{
		"the platform":   {func(f *fixture) { f.calls.set(func(context.Context, call) error { return errDown }) }, "platform "},
		"the credential": {func(f *fixture) { f.calls.set(func(context.Context, call) error { return errUnauthenticated }) }, "credential credentials.rulesets"},
		"a zone":         {func(f *fixture) { f.calls.set(failing(errForbidden, 3)) }, "zone zone-00003.example"},
		"the state folder": {func(f *fixture) {
			f.records.set(func(o string) error { return fmt.Errorf("%s: %w", o, errDisk) })
		}, "state "},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T) {
				f := newFixture(t, n)
				var told []string
				f.Outages = outage.New(outage.Config{Now: time.Now, Tell: func(e outage.Event) {
					if e.Kind != outage.Changed {
						told = append(told, fmt.Sprint(e.Kind, " ", e.Outage.Subject, " ", e.Outage.Name))
					}
				}})
				f.repo.push("c1", fleet(n, "xss")...)
				f.start()
				defer func() { f.stop() }()
				test.begin(f)
				f.repo.push("c2", fleet(n, "rce")...)
				f.source.Poke()
				f.pass(20 * time.Minute)
				if list := f.Outages.Outages(); len(list) != 1 {
					t.Errorf("outages %+v", list)
				}
				f.calls.set(nil)
				f.records.set(nil)
				f.pass(time.Hour)
				f.want(n, "rce")
				if want := []string{"began " + test.want, "ended " + test.want}; !slices.Equal(told, want) {
					t.Errorf("told %q, want %q", told, want)
				}
			})
		})
	}
}
