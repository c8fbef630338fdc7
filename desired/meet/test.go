package meet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/expression/eval"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Test says what becomes of a request in a zone.
type Test struct {
	Account string    `json:"account"` // the key; empty where one account alone has such a zone
	Zone    string    `json:"zone"`
	Request eval.Form `json:"request"`
	Expect  Expect    `json:"expect"`
}

// Expect is what a test expects: a result, and rules by their keys.
type Expect struct {
	Result string
	Meets  []string // these match, and nothing ends the request before
	Misses []string
}

// UnmarshalJSON reads a result, or an object.
func (e *Expect) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &e.Result) == nil {
		return nil
	}
	type plain Expect
	return json.Unmarshal(data, (*plain)(e))
}

// Failure is why a test fails, and what to try.
type Failure struct{ Message, Hint string }

// Check compares what became of a request with what is expected. It is nil for a test that passes.
func (e Expect) Check(o Outcome) *Failure {
	switch {
	case e.Result == "":
	case o.Result == "":
		return &Failure{fmt.Sprintf("expects %s, and the result is not known", e.Result), Add(o.Lacks)}
	case o.Result != e.Result:
		return &Failure{fmt.Sprintf("expects %s, and the result is %s", e.Result, o.Result), o.because(e.Result)}
	}
	for _, key := range e.Meets {
		if f := o.check(key, true); f != nil {
			return f
		}
	}
	for _, key := range e.Misses {
		if f := o.check(key, false); f != nil {
			return f
		}
	}
	return nil
}

// check tells whether the request meets a rule, as it should or should not.
func (o Outcome) check(key string, should bool) *Failure {
	var steps []Step
	var keys []string
	for _, s := range o.Steps {
		if keys = append(keys, s.Key); s.Key == key {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return &Failure{fmt.Sprintf("expects something of the rule %q, which is not declared", key), nearest.Hint(key, keys, "")}
	}
	meets := slices.IndexFunc(steps, func(s Step) bool { return s.Off == "" && s.Verdict == eval.True && len(s.Open) == 0 })
	unknown := slices.IndexFunc(steps, func(s Step) bool { return s.Off == "" && s.Verdict == eval.Unknown || len(s.Open) > 0 })
	switch {
	case should && meets >= 0, !should && meets < 0 && unknown < 0:
		return nil
	case unknown >= 0 && meets < 0:
		s := steps[unknown]
		return &Failure{fmt.Sprintf("expects something of the rule %q, and whether the request meets it is not known", key), Add(slices.Concat(s.Lacks, s.Open))}
	case should:
		return &Failure{fmt.Sprintf("does not meet the rule %q", key), steps[0].Because()}
	}
	return &Failure{fmt.Sprintf("meets the rule %q", key), steps[meets].Because()}
}

// because says why a result is not another one: by the rule that ended the request, or by those
// that would have had that result.
func (o Outcome) because(result string) string {
	if o.By != nil {
		return o.By.String()
	}
	for _, s := range o.Steps {
		if s.Verdict == eval.True && s.Off == "" && s.result() == o.Result {
			return s.String()
		}
	}
	var all []string
	for _, s := range o.Steps {
		if s.result() == result && (s.Verdict == eval.False || s.Off != "") {
			all = append(all, s.String())
		}
	}
	if len(all) > 3 {
		all = append(all[:3], fmt.Sprintf("and %d more", len(all)-3))
	}
	return strings.Join(all, "; ")
}

// String is the rule and whether it matches, with the reason.
func (s Step) String() string {
	verb := map[eval.Verdict]string{eval.True: "matches", eval.False: "does not match", eval.Unknown: "may match"}[s.Verdict]
	if s.Off != "" {
		verb = "is not evaluated"
	}
	return fmt.Sprintf("%s %s %s: %s", s.word(), s.Key, verb, s.Because())
}

// Because is why a rule matches, or does not, or is not evaluated.
func (s Step) Because() string {
	switch {
	case s.Off != "":
		return s.Off
	case s.Verdict == eval.Unknown:
		return Add(s.Lacks)
	case s.Saw == "":
		return s.Why
	}
	return fmt.Sprintf("%s, of the value %s", s.Why, s.Saw)
}

// word is what people call a rule of the kind.
func (s Step) word() string { return s.Kind.Word() }

// Add says what to add to a request so that more is known of it.
func Add(lacks []eval.Lack) string {
	var members, whys []string
	for _, l := range lacks {
		switch add := l.Add(); {
		case add == "":
			whys = append(whys, l.Why)
		case !slices.Contains(members, add):
			members = append(members, add)
		}
	}
	if len(members) > 0 {
		whys = append([]string{"add to the request: " + strings.Join(members, ", ")}, whys...)
	}
	return strings.Join(whys, "; ")
}

// Scopes are what declares rules for a zone by its key: its account, where that does, and the
// zone. They are empty where no zone, or more than one, has the key.
func Scopes(accounts []desired.Account, account, zone string) (scopes []desired.Zone) {
	for _, a := range accounts {
		if account != "" && a.Key != account {
			continue
		}
		i := slices.IndexFunc(a.Zones, func(z desired.Zone) bool { return z.Key == zone })
		if i < 0 {
			continue
		}
		if scopes != nil {
			return nil
		}
		if level := slices.IndexFunc(a.Zones, func(z desired.Zone) bool { return desired.IsAccountKey(z.Key) }); level >= 0 {
			scopes = append(scopes, a.Zones[level])
		}
		scopes = append(scopes, a.Zones[i])
	}
	return scopes
}
