package client

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func entryPointOf(description string) string {
	return ok(fmt.Sprintf(`{"id":%q,"phase":%q,"description":%q,"rules":[{"id":%q}]}`, testEntry, edge.PhaseFirewallManaged, description, testRule))
}

// An answer that is the one before is decoded once and asked for each time;
// any other is what it says, and a failure is never what was known.
func TestSameAnswerIsDecodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(
			answer(200, entryPointOf("a")), answer(200, entryPointOf("a")), answer(200, entryPointOf("b")),
			answer(404, entryPointOf("b")), answer(403, failure(10000, "no")), answer(200, entryPointOf("b")), answer(200, entryPointOf("a")),
		))
		c := s.client(t, nil)
		var last *edge.Rule
		for i, want := range []struct {
			description string
			same        bool
		}{{"a", false}, {"a", true}, {"b", false}, {"", false}, {"", false}, {"b", true}, {"a", false}} {
			got, err := c.EntryPoint(t.Context(), testZone, edge.PhaseFirewallManaged)
			if (err != nil) != (want.description == "") || got.Description != want.description {
				t.Fatalf("answer %d is %q, %v; want %q", i, got.Description, err, want.description)
			}
			if err != nil {
				continue
			}
			if same := &got.Rules[0] == last; same != want.same {
				t.Errorf("answer %d: the value before is %v, want %v", i, same, want.same)
			}
			last = &got.Rules[0]
		}
		if n := len(s.arrivals()); n != 7 {
			t.Errorf("%d requests, want 7", n)
		}
	})
}

// The answer to a write is known as the one to the read that follows, where they are the
// same: a read that is answered otherwise says what it says.
func TestAnswerOfAWriteIsDecodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(
			answer(200, entryPointOf("a")), answer(200, entryPointOf("b")), answer(200, entryPointOf("b")),
			answer(200, entryPointOf("c")), answer(200, entryPointOf("d")),
		))
		c := s.client(t, nil)
		read := func() *edge.Ruleset {
			got, err := c.EntryPoint(t.Context(), testZone, edge.PhaseFirewallManaged)
			must.Do(t, err)
			return &got
		}
		write := func() *edge.Ruleset {
			got, err := c.Send(t.Context(), edge.UpdateRule(testZone, testEntry, testRule, edge.Rule{}))
			if err != nil || got == nil {
				t.Fatalf("%v, %v", got, err)
			}
			return got
		}
		for i, step := range []struct {
			do   func() *edge.Ruleset
			want string
			same bool
		}{{read, "a", false}, {write, "b", false}, {read, "b", true}, {write, "c", false}, {read, "d", false}} {
			before := c.known.answers[edge.EntryPointPath(testZone, edge.PhaseFirewallManaged)].ruleset
			got := step.do()
			same := len(before.Rules) > 0 && &got.Rules[0] == &before.Rules[0]
			if got.Description != step.want || same != step.same {
				t.Errorf("answer %d is %q, the value before: %v; want %q, %v", i, got.Description, same, step.want, step.same)
			}
		}
	})
}

// Rulesets of earlier phases are not remembered: there may be hundreds of rules in them.
func TestEarlierPhasesAreNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(200, ok(fmt.Sprintf(`{"id":%q,"phase":%q}`, testEntry, edge.PhaseFirewallCustom))), answer(200, entryPointOf("a"))))
		c := s.client(t, nil)
		for i, phase := range []edge.Phase{edge.PhaseFirewallCustom, edge.PhaseFirewallManaged} {
			got, err := c.EntryPoint(t.Context(), testZone, phase)
			if err != nil || got.Phase != phase || len(c.known.answers) != i {
				t.Errorf("%s: %v, %v, and %d answers are known", phase, got, err, len(c.known.answers))
			}
		}
	})
}

// The memory of answers has an end.
func TestKnownAnswersAreBounded(t *testing.T) {
	const most = 100
	k := known{most: most}
	for i := range 2*most + 1 {
		k.keep(fmt.Sprint(i), knownAnswer{})
		if len(k.answers) > most {
			t.Fatalf("%d answers are kept", len(k.answers))
		}
	}
	if _, ok := k.recall(fmt.Sprint(2*most), 0, [32]byte{}); !ok {
		t.Error("the last answer is not known")
	}
}
