// Package meet tells which declared rules a request meets, in their order, and what becomes of it.
//
//	outcome := meet.Zone(scopes, request)
//	fmt.Println(outcome.Result, outcome.By)
//
// The phases come one after the other as on the platform: custom rules, rate limits, and the
// exceptions of managed rulesets; in each, the rules of the account come before those of the zone.
// A rule that ends the request ends all of it. Rules of others are not known here, nor how often
// the client asked before.
//
// Nothing is guessed: where it is not known whether a rule matches, or which of two that both
// would end the request stands in front, and this changes the result, the result is not known, and
// the outcome says what to add.
package meet

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/expression/eval"
)

// What can become of a request. Of several that are true the first one in this list is said.
//
// The others are the actions of the rule that ended the request: block, managed_challenge, js_challenge and challenge.
const (
	ResultSkip      = "skip"       // a rule with the action skip turned something off, an exception too
	ResultRateLimit = "rate_limit" // a rate limit counts it
	ResultLog       = "log"
	ResultNone      = "none" // no rule matches
)

// Outcome is what becomes of a request.
type Outcome struct {
	Steps  []Step
	Result string      // empty where it is not known
	By     *Step       // the rule that ended the request; nil for none
	Lacks  []eval.Lack // why the result is not known
}

// Step is one declared rule.
type Step struct {
	*Rule
	Account bool         // it is one of the account of the zone
	Verdict eval.Verdict // whether it matches; Unknown where it is not evaluated
	Why     string       // the part of its expression that decided
	Saw     string       // the value that it looked at
	Lacks   []eval.Lack
	Off     string    // why it is not evaluated; empty for one that is
	Counts  []Counted // of a rate limit that matches: what makes the key by which it counts
	// Open is why it is not known whether the request comes to it: another rule may stand in
	// front, or may match, and end the request. One that does not match has none.
	Open []eval.Lack

	passes []eval.Lack // those of Open by which the request goes on behind the phase, or may
}

// Counted is a characteristic of a rate limit. Value is empty where it is not known.
type Counted struct{ By, Value string }

// phases are those with declared rules, in the order in which the platform has them.
var phases = [...]edge.Phase{edge.PhaseFirewallCustom, edge.PhaseRateLimit, edge.PhaseFirewallManaged}

// Zone sends a request through the rules of a zone. scopes are what declares some: the account of
// the zone, where it does, and the zone.
func Zone(scopes []desired.Zone, request eval.Request) Outcome {
	t := &trace{
		could: map[string]bool{}, matches: map[string]bool{}, off: map[edge.Phase]string{}, perhapsOff: map[edge.Phase]string{},
		mayOff: map[edge.Phase][]eval.Lack{},
	}
	if name := scopes[len(scopes)-1].Name; name != "" {
		request = request.With("cf.zone.name", eval.Text(name))
	}
	t.request = request
	for _, phase := range phases {
		for _, zone := range scopes {
			t.phase(Rules(zone, phase), phase, zone.Scope.Level == edge.LevelAccount)
		}
	}
	return t.outcome()
}

// trace is a request on its way.
type trace struct {
	request eval.Request
	Outcome

	ended      int                   // the place of the rule that ended it, and 1; 0 for none
	could      map[string]bool       // how else it could have ended
	matches    map[string]bool       // results of rules that match and do not end it; false for those that may match
	off        map[edge.Phase]string // by the key of the rule that skips it
	perhapsOff map[edge.Phase]string // where the documents do not say alike

	mayEnd, maySkip []eval.Lack                // rules that may have ended the request, or skip those behind them in the phase
	mayOff          map[edge.Phase][]eval.Lack // rules that may skip a later phase
}

// phase goes through the rules of a phase in one scope.
func (t *trace) phase(rules []*Rule, phase edge.Phase, account bool) {
	start, by := len(t.Steps), -1 // by is the place of the rule that ends the phase
	t.maySkip = nil
	for _, r := range rules {
		s := Step{Rule: r, Account: account}
		switch {
		case !r.Enabled:
			s.Off = "it is switched off"
		case t.ended > 0:
			s.Off = fmt.Sprintf("%s ended the request", t.Steps[t.ended-1].Key)
			if by < 0 && t.off[phase] == "" {
				s.Open = t.passedBy(r)
			}
		case by >= 0:
			s.Off = fmt.Sprintf("%s skips the rules behind it", t.Steps[by].Key)
		case t.off[phase] != "":
			s.Off = fmt.Sprintf("%s skips this phase", t.off[phase])
		}
		if s.Off == "" {
			t.evaluate(&s, account)
		}
		t.Steps = append(t.Steps, s)
		if s.Off != "" || s.Verdict != eval.True || !r.Ends() {
			continue
		}
		if by = len(t.Steps) - 1; r.terminates() {
			t.ended = len(t.Steps)
		}
	}
	t.undeclared(orderOf(rules), start, by)
	for _, s := range t.Steps[start:] {
		t.skips(s)
	}
}

// passedBy says why a rule may be met although another one ended the request; nothing where it
// matches in no case.
func (t *trace) passedBy(r *Rule) []eval.Lack {
	passes := t.Steps[t.ended-1].passes
	if len(passes) == 0 || t.request.Evaluate(r.expr).Verdict == eval.False {
		return nil
	}
	return passes
}

// skips notes which later phases a rule turns off.
func (t *trace) skips(s Step) {
	for _, phase := range s.Skips.Phases {
		switch {
		case s.Action != actionSkip, s.Off != "" && len(s.Open) == 0, s.Off == "" && s.Verdict == eval.False:
		case s.Off != "" || s.Verdict == eval.Unknown || len(s.passes) > 0:
			t.mayOff[phase] = slices.Concat(t.mayOff[phase], s.Lacks, s.Open)
		case s.Account:
			t.perhapsOff[phase] = s.Key
		default:
			t.off[phase] = s.Key
		}
	}
}

// evaluate tells whether a rule matches, and what follows of it.
func (t *trace) evaluate(s *Step, account bool) {
	result := t.request.Evaluate(s.expr)
	s.Verdict, s.Saw, s.Lacks = result.Verdict, result.Saw, result.Lacks
	if result.Why != nil {
		s.Why = expression.Write(result.Why)
	}
	if by := t.perhapsOff[s.Phase]; by != "" && s.Verdict != eval.False && !account {
		s.Verdict, s.Lacks = eval.Unknown, []eval.Lack{{Why: fmt.Sprintf(
			"%s of the account skips this phase: whether in its zones, too, the vendor's documents do not say alike", by)}}
	}
	if s.Verdict == eval.False {
		return
	}
	s.passes = slices.Concat(t.maySkip, t.mayOff[s.Phase])
	s.Open = slices.Concat(t.mayEnd, s.passes)
	for _, characteristic := range s.limit.Characteristics {
		s.Counts = append(s.Counts, t.counted(characteristic))
	}
	t.follow(s)
}

// follow notes what could become of the request by a rule that matches, or may.
func (t *trace) follow(s *Step) {
	what := s.result()
	switch {
	case s.Action == string(edge.ActionExecute):
		t.could[s.Action] = true
		lacks := s.Lacks // which may be enough: of a request that it does not match, nothing is asked
		if s.Verdict == eval.True {
			lacks = []eval.Lack{{Why: fmt.Sprintf("what the ruleset does that %s executes", s.Key)}}
		}
		t.Lacks, t.mayEnd = append(t.Lacks, lacks...), append(t.mayEnd, lacks...)
	case s.Verdict == eval.Unknown:
		t.Lacks = append(t.Lacks, s.Lacks...)
		switch {
		case s.terminates():
			t.mayEnd = append(t.mayEnd, s.Lacks...)
		case s.Ends():
			t.maySkip = append(t.maySkip, s.Lacks...)
		}
		if s.Ends() {
			t.could[what] = true
		}
		if _, is := t.matches[what]; !is && !s.terminates() {
			t.matches[what] = false
		}
	case !s.terminates():
		t.matches[what] = true
	}
}

// result is what becomes of a request by a rule that matches, if nothing else ends it.
func (s *Step) result() string {
	switch {
	case s.terminates(), s.Action == actionSkip:
		return s.Action
	case s.Phase == edge.PhaseRateLimit:
		return ResultRateLimit
	}
	return ResultLog
}

func (t *trace) counted(characteristic string) Counted {
	c := Counted{By: characteristic}
	if e, err := expression.Parse(characteristic); err == nil {
		if term, is := e.Root.(*expression.Term); is {
			if value := t.request.Value(term); value.Known() {
				c.Value = value.Shown()
			}
		}
	}
	return c
}

// outcome is what is left to say at the end.
func (t *trace) outcome() Outcome {
	could := map[string]bool{}
	for result, is := range t.could {
		if is {
			could[result] = true
		}
	}
	if t.ended > 0 {
		t.By = &t.Steps[t.ended-1]
		could[t.By.Action] = true
	} else {
		surely := false
		for _, result := range [...]string{ResultSkip, ResultRateLimit, ResultLog} {
			is, perhaps := t.matches[result]
			could[result] = could[result] || perhaps && !surely
			surely = surely || is
		}
		could[ResultNone] = !surely
	}
	results := slices.DeleteFunc(slices.Sorted(maps.Keys(could)), func(result string) bool { return !could[result] })
	if len(results) == 1 {
		t.Result, t.Lacks = results[0], nil
	}
	return t.Outcome
}
