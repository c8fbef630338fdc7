package source

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// A commit whose evaluation was ended, such as by the kernel when another program took all memory, is
// evaluated again soon, and less and less often while that does not help. One with mistakes is not.
func TestAnEvaluationThatWasEndedIsTriedAgainSoon(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	cue := &compiled{problems: []desired.Problem{{Message: "odd"}, {Message: "was ended by the kernel", Ended: true}}}
	s := New(Config{Source: &server{head: "c1"}, Compiler: cue, Now: func() time.Time { return now }})
	s.urgent = func(bool) {}
	looks := func(minutes int) (evaluated []int) {
		for m := range minutes {
			before := len(cue.commits)
			if s.Evaluate(t.Context(), "c1"); len(cue.commits) > before {
				evaluated = append(evaluated, m)
			}
			now = now.Add(time.Minute)
		}
		return evaluated
	}
	want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183}
	if at := looks(200); !slices.Equal(at, want) {
		t.Errorf("evaluated in the minutes %v, not %v", at, want)
	}
	cue.problems = cue.problems[:1]
	now = now.Add(time.Hour)
	if at := looks(59); len(at) != 1 {
		t.Errorf("a mistake was looked for again in the minutes %v", at)
	}
	cue.problems = nil
	now = now.Add(time.Minute)
	if p := s.Evaluate(t.Context(), "c1"); len(p.Problems) != 0 {
		t.Errorf("what does now is still held: %+v", p.Problems)
	}
}
