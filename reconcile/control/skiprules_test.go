package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// chronicle notes what is entered into the history.
type chronicle struct {
	reconcile.Forgetful
	said     []string
	recalled []reconcile.Entry
	reads    int // of these
	spoiled  error
}

func (c *chronicle) SkipRules(context.Context) ([]reconcile.Entry, error) {
	c.reads++
	return c.recalled, c.spoiled
}

func (c *chronicle) Record(_ context.Context, entries ...reconcile.Entry) error {
	for _, e := range entries {
		text := fmt.Sprintf("%s %s %s", e.Kind, e.Direction, e.Subject.Ref)
		for _, m := range e.Members {
			text += fmt.Sprintf("; %s %s to %s", m.Path, m.Old, m.New)
		}
		c.said = append(c.said, text)
	}
	return nil
}

// A skip rule that appears is in the history once, so is its end, and what it was and is. One
// that was there, that is accepted or that Seawall removes is not; and one that may still be
// there does not end.
func TestSkipRulesInTheHistory(t *testing.T) {
	records := &chronicle{}
	c, err := New(t.Context(), Config{Records: records, Now: time.Now})
	must.Do(t, err)
	zone := edge.ZoneScope("a")
	_, err = c.Propose(t.Context(), alike("c1", "core"))
	must.Do(t, err)
	task, _ := c.Task(c.Current(), zone)
	var ahead map[edge.Place]diff.Ahead
	look := func(plan diff.Plan, want ...string) {
		t.Helper()
		records.said = nil
		_, err := c.Note(t.Context(), Outcome{Scope: zone, Fingerprint: task.Fingerprint, Plan: plan, Ahead: ahead})
		must.Do(t, err)
		if !slices.Equal(records.said, want) {
			t.Errorf("got  %q\nwant %q", records.said, want)
		}
	}
	rule := func(id string, state diff.BypassState) diff.Bypass {
		return diff.Bypass{
			Account: "a1", Zone: "a", Scope: zone, Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
			Rule: edge.RuleID(id), Expression: "true", All: true, State: state,
		}
	}
	with := func(all ...diff.Bypass) diff.Plan { return diff.Plan{Bypasses: all} }
	found, came := rule("old", diff.BypassFound), rule("new", diff.BypassNew)
	const place = `; place  to "http_request_firewall_managed of the zone"`
	look(with(found))
	look(with(found, came, came), `found weakens new; expression  to "true"; skips  to "all of core"`+place)
	look(with(found, came))
	wider := found
	wider.State, wider.Expression = diff.BypassChanged, "1 eq 1"
	look(with(wider, came), `found weakens old; expression "true" to "1 eq 1"; skips "all of core" to "all of core"; place "http_request_firewall_managed of the zone" to "http_request_firewall_managed of the zone"`)
	accepted := came
	accepted.State = diff.BypassAccepted
	look(with(wider, accepted))
	unread := diff.Plan{Problems: []diff.Problem{{Zone: "a", Scope: zone, State: diff.Unknown}}}
	look(unread)
	look(with(wider), `found strengthens new; expression "true" to ; skips "all of core" to ; place "http_request_firewall_managed of the zone" to `)
	look(with(wider, came), `found weakens new; expression  to "true"; skips  to "all of core"`+place)
	removed := came
	removed.Remove = true
	look(with(wider, removed))
	look(with(wider))
	look(with(), `found strengthens old; expression "1 eq 1" to ; skips "all of core" to ; place "http_request_firewall_managed of the zone" to `)

	earlier := came
	earlier.Rule, earlier.Phase = "ahead", edge.PhaseFirewallCustom
	look(with(earlier), `found weakens ahead; expression  to "true"; skips  to "all of core"; place  to "http_request_firewall_custom of the zone"`)
	look(with()) // no one looks there any more
	ahead = map[edge.Place]diff.Ahead{zone.At(edge.PhaseFirewallCustom): {Since: edge.ErrUnavailable}}
	look(with())
	ahead = map[edge.Place]diff.Ahead{zone.At(edge.PhaseFirewallCustom): {}}
	look(with(), `found strengthens ahead; expression "true" to ; skips "all of core" to ; place "http_request_firewall_custom of the zone" to `)

	// One that is accepted is in the history, too, where it becomes another, and where it is as accepted again.
	of := accepted
	look(with(of))
	other := of
	other.State, other.Expression = diff.BypassDiffers, "1 eq 1"
	const same = `; skips "all of core" to "all of core"; place "http_request_firewall_managed of the zone" to "http_request_firewall_managed of the zone"`
	look(with(other), `found weakens new; expression "true" to "1 eq 1"`+same)
	look(with(other))
	look(with(of), `found strengthens new; expression "1 eq 1" to "true"`+same)
	look(with(of))
	look(with())

	// Another process goes on with what this one has told.
	last := reconcile.SkipRuleEntry(nil, &came)
	records.recalled = []reconcile.Entry{last}
	c, err = New(t.Context(), Config{Records: records, Now: time.Now})
	must.Do(t, err)
	_, err = c.Propose(t.Context(), alike("c1", "core"))
	must.Do(t, err)
	look(unread)
	look(with(came))
	part := came
	part.All, part.Rules = false, []diff.SkippedRule{{ID: "r1"}}
	look(with(part), `found weakens new; expression "true" to "true"; skips "all of core" to "1 rule of core: r1"; place "http_request_firewall_managed of the zone" to "http_request_firewall_managed of the zone"`)
	look(with(), `found strengthens new; expression "true" to ; skips "1 rule of core: r1" to ; place "http_request_firewall_managed of the zone" to `)
}

// What was told of skip rules is read once for all zones, and anew once another process may have told
// more: of zones that are this one's again, and of those that a commit gives to it.
func TestSkipRulesAreReadOnce(t *testing.T) {
	for name, next := range map[string]func(*Control) error{
		"retake": func(c *Control) error {
			_, _, err := c.Retake(t.Context(), func(edge.Scope) bool { return true })
			return err
		},
		"another commit": func(c *Control) error {
			_, err := c.Propose(t.Context(), alike("c2", "core", "other"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			records := &chronicle{}
			c, err := New(t.Context(), Config{Records: records, Now: time.Now})
			must.Do(t, err)
			_, err = c.Propose(t.Context(), alike("c1", "core"))
			must.Do(t, err)
			came := func(id edge.ZoneID) diff.Bypass {
				return diff.Bypass{
					Account: "a1", Zone: string(id), Scope: edge.ZoneScope(id), Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
					Rule: "r", Expression: "true", All: true, State: diff.BypassNew,
				}
			}
			told := func(id edge.ZoneID) {
				b := came(id)
				records.recalled = append(records.recalled, reconcile.SkipRuleEntry(nil, &b))
			}
			look := func(id edge.ZoneID, reads, said int) {
				t.Helper()
				records.said = nil
				task, _ := c.Task(c.Current(), edge.ZoneScope(id))
				_, err := c.Note(t.Context(), Outcome{Scope: edge.ZoneScope(id), Fingerprint: task.Fingerprint, Plan: diff.Plan{Bypasses: []diff.Bypass{came(id)}}})
				must.Do(t, err)
				if records.reads != reads || len(records.said) != said {
					t.Errorf("zone %s: %d reads, want %d; said %q, want %d", id, records.reads, reads, records.said, said)
				}
			}
			told("a")
			look("a", 1, 0)
			look("b", 1, 1)
			told("c") // by another process
			must.Do(t, next(c))
			look("c", 2, 0)
		})
	}
}

// An entry that cannot be read is told once, and costs no other zone what was told of it.
func TestUnreadableSkipRuleIsToldOnce(t *testing.T) {
	b := diff.Bypass{
		Account: "a1", Zone: "b", Scope: edge.ZoneScope("b"), Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
		Rule: "r", Expression: "true", All: true, State: diff.BypassNew,
	}
	records := &chronicle{recalled: []reconcile.Entry{reconcile.SkipRuleEntry(nil, &b)}, spoiled: errors.New("number 7 cannot be read")}
	c, err := New(t.Context(), Config{Records: records, Now: time.Now})
	must.Do(t, err)
	_, err = c.Propose(t.Context(), alike("c1", "core"))
	must.Do(t, err)
	note := func(id edge.ZoneID, found ...diff.Bypass) error {
		task, _ := c.Task(c.Current(), edge.ZoneScope(id))
		_, err := c.Note(t.Context(), Outcome{Scope: edge.ZoneScope(id), Fingerprint: task.Fingerprint, Plan: diff.Plan{Bypasses: found}})
		return err
	}
	if err := note("a"); !errors.Is(err, records.spoiled) {
		t.Errorf("the first zone has %v", err)
	}
	if err := errors.Join(note("b", b), note("c"), note("a")); err != nil || len(records.said) > 0 || records.reads != 1 {
		t.Errorf("the others have %v; said %q; %d reads", err, records.said, records.reads)
	}
	records.recalled, records.spoiled = nil, errors.New("the disk is away")
	_, err = c.Propose(t.Context(), alike("c2", "core"))
	must.Do(t, err)
	if err := errors.Join(note("d"), note("d")); err == nil || records.reads != 3 {
		t.Errorf("what was not read at all is taken for nothing: %v, %d reads", err, records.reads)
	}
}

// A skip rule that was there all along, or that is accepted, has no entry in the history. Where all on record
// is taken in anew, such as after the database was away, that it changes then is told all the same.
func TestSkipRulesWithoutAnEntryOutliveAReload(t *testing.T) {
	zone := edge.ZoneScope("a")
	was := diff.Bypass{
		Account: "a1", Zone: "a", Scope: zone, Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
		Rule: "r", Expression: "true", All: true, State: diff.BypassAccepted,
	}
	is := was
	is.State, is.Expression = diff.BypassDiffers, "1 eq 1"
	for name, next := range map[string]func(*Control) error{
		"none":   func(*Control) error { return nil },
		"reload": func(c *Control) error { c.Anew(); _, err := c.Reload(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			records := &chronicle{}
			c, err := New(t.Context(), Config{Records: records, Now: time.Now})
			must.Do(t, err)
			_, err = c.Propose(t.Context(), alike("c1", "core"))
			must.Do(t, err)
			task, _ := c.Task(c.Current(), zone)
			c.Read(zone)
			for _, b := range []diff.Bypass{was, is} {
				_, err := c.Note(t.Context(), Outcome{Scope: zone, Fingerprint: task.Fingerprint, Plan: diff.Plan{Bypasses: []diff.Bypass{b}}})
				must.Do(t, err)
				if b.Expression == was.Expression {
					must.Do(t, next(c))
				}
			}
			if want := 1; len(records.said) != want {
				t.Errorf("the history has %q, want %d entry", records.said, want)
			}
		})
	}
}

// hanging is a history that does not answer.
type hanging struct {
	chronicle
	hangs bool
}

func (h *hanging) SkipRules(ctx context.Context) ([]reconcile.Entry, error) {
	if !h.hangs {
		return h.chronicle.SkipRules(ctx)
	}
	h.reads++
	<-ctx.Done()
	return nil, ctx.Err()
}

// A history that hangs holds one zone up, and not each: the others go on without it until it is asked again.
// Once it answers, zones have what it says.
func TestAHistoryThatHangsHoldsOneZoneUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := &hanging{hangs: true}
		c, err := New(t.Context(), Config{Records: records, Now: time.Now})
		must.Do(t, err)
		began := time.Now()
		for n := range 100 {
			if n%10 == 0 {
				c.state.restored++ // others change something meanwhile
			}
			if err := c.recallSkipRules(t.Context(), edge.ZoneScope(edge.ZoneID(fmt.Sprint(n)))); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("zone %d: %v", n, err)
			}
		}
		if took := time.Since(began); took != tellWithin || records.reads != 1 {
			t.Errorf("it took %v, and the history was asked %d times, want %v and once", took, records.reads, tellWithin)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		time.Sleep(tellAgain.First)
		if err := c.recallSkipRules(stopped, edge.ZoneScope("a")); !errors.Is(err, context.Canceled) {
			t.Errorf("of one who does not wait: %v", err)
		}
		records.hangs, records.reads = false, 0
		for range 2 {
			must.Do(t, c.recallSkipRules(t.Context(), edge.ZoneScope("a")))
		}
		if records.reads != 1 {
			t.Errorf("the history was asked %d times after its pause, want once", records.reads)
		}
	})
}

// While the history cannot say what it has, a skip rule is not told again. It is told once the history says
// that it has it not; and what this process sees to change meanwhile is told at once.
func TestSkipRulesWhileTheHistoryHangs(t *testing.T) {
	for name, test := range map[string]struct{ has, want int }{"the history has it": {1, 0}, "it has not": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				zone := edge.ZoneScope("a")
				rule := func(id edge.RuleID, state diff.BypassState, expression string) diff.Bypass {
					return diff.Bypass{
						Account: "a1", Zone: "a", Scope: zone, Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
						Rule: id, Expression: expression, All: true, State: state,
					}
				}
				came := rule("r", diff.BypassNew, "true")
				records := &hanging{hangs: true}
				records.recalled = []reconcile.Entry{reconcile.SkipRuleEntry(nil, &came)}[:test.has]
				c, err := New(t.Context(), Config{Records: records, Now: time.Now})
				must.Do(t, err)
				_, err = c.Propose(t.Context(), alike("c1", "core"))
				must.Do(t, err)
				task, _ := c.Task(c.Current(), zone)
				look := func(want int, rules ...diff.Bypass) {
					t.Helper()
					records.said = nil
					_, err := c.Note(t.Context(), Outcome{Scope: zone, Fingerprint: task.Fingerprint, Plan: diff.Plan{Bypasses: rules}})
					if errors.Is(err, context.DeadlineExceeded) != records.hangs {
						t.Errorf("it hangs %v: %v", records.hangs, err)
					}
					if len(records.said) != want {
						t.Errorf("it hangs %v: the history has %q, want %d", records.hangs, records.said, want)
					}
				}
				all := rule("all along", diff.BypassAccepted, "true")
				look(0, came, all)
				look(0, came, all)
				is := rule("all along", diff.BypassDiffers, "1 eq 1")
				look(1, came, is)
				time.Sleep(tellAgain.Most)
				records.hangs = false
				look(test.want, came, is)
				look(0, came, is)
			})
		})
	}
}
