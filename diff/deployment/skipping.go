package deployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// This file says which requests a skip rule keeps from a deployment, and what a person can do.

// problem is that of a skip rule that needs a person. acceptedBy is a deployment of the zone that
// accepts it; empty for none.
func (b *bypassed) problem(documented bool, acceptedBy string) diff.Problem {
	p := diff.Problem{State: diff.Bypassed, Origin: b.at.d.Origin, Reason: b.reason()}
	if !b.Origin.IsZero() {
		p.Origin = b.Origin
	}
	advice := "remove the rule on the platform"
	switch wants := removesBypasses(b.at.d); {
	case b.git.Kind != "" && (b.Owner != "" || !b.git.Agrees):
		p.Hint = b.declaredHint()
		return p
	case b.State != diff.BypassNew || !b.own():
		if wants {
			p.Reason += "; " + b.stays()
		}
	case wants && documented:
		p.Origin = b.at.d.Bypass.Origin
		p.Reason += `; bypass: "remove" is declared, and the profile has no call that deletes a rule`
		advice = `set platform.profile: "extended" in the configuration, or remove the rule on the platform`
	case wants && acceptedBy == "":
		p.Reason += `; bypass: "remove" removes it once the change may be sent`
	case wants:
		p.Reason += fmt.Sprintf(`; bypass: "remove" leaves it, because deployment %q accepts it`, acceptedBy)
	case !documented:
		advice += `, or declare bypass: "remove", which removes rules that come after the proof`
	}
	p.Hint = b.hint(advice)
	return p
}

// hint adds to what one can do against the rule how to accept it: where an acceptance names it,
// that one changes, as a second one of the same key would contradict it.
func (b *bypassed) hint(advice string) string {
	declared := fmt.Sprintf("accepted: %s (%s:%d)", quoted(b.key), b.Origin.File, b.Origin.Line)
	switch b.State {
	case diff.BypassFound, diff.BypassNew, diff.BypassChanged, diff.BypassElsewhere:
	case diff.BypassAccepted:
		return "name the owner in " + declared + ", or " + advice
	case diff.BypassDiffers:
		return advice + "; to accept it as it is, change " + declared + " to " + b.acceptance()
	case diff.BypassExpired:
		if b.differs != "" {
			return advice + "; to accept it as it is, change " + declared + " to " + b.acceptance() + " with a later until"
		}
		return advice + "; to accept it for longer, set a later until in " + declared
	}
	return fmt.Sprintf("%s; to accept it as it is, declare accepted: %s: %s, and name the owner", advice, quoted(b.Rule), b.acceptance())
}

// declaredHint is what a person can do about a rule that git declares: it is corrected, or it has
// no owner.
func (b *bypassed) declaredHint() string {
	if b.git.Agrees {
		return fmt.Sprintf("name the owner of %s %q (%s:%d)", b.git.Kind.Word(), b.git.Key, b.Origin.File, b.Origin.Line)
	}
	return fmt.Sprintf("the change of %s %q corrects it once it may be sent", b.git.Kind.Word(), b.git.Key)
}

// stays says why bypass: "remove" leaves a rule.
func (b *bypassed) stays() string {
	if !b.own() {
		return `bypass: "remove" is about rules of the entry point of the deployment alone`
	}
	return `bypass: "remove" leaves what was there before, and what was accepted once`
}

// reason says what is kept from the deployment, and why nobody has agreed to it.
func (b *bypassed) reason() string {
	which := "requests that match " + shortened(b.Expression)
	if b.Always {
		which = "all requests"
	}
	from := "this deployment"
	if !b.All {
		from = b.rulesOf()
	}
	text := fmt.Sprintf("skip rule %s%s keeps %s from %s", b.name(), b.phase(), which, from)
	if b.Always {
		text += ": expression " + shortened(b.Expression)
	}
	if b.own() {
		text += ", before the execute rule"
	}
	if b.unclear != nil {
		text += fmt.Sprintf("; what it skips is not understood, so that counts as all: %v", b.unclear)
	}
	return text + b.since()
}

// name is the description of the rule, with the beginning of its id.
func (b *bypassed) name() string {
	id := string(b.Rule)
	if len(id) > shownID {
		id = id[:shownID] + "…"
	}
	called := cmp.Or(b.Description, strings.TrimPrefix(b.Ref, string(b.Rule)))
	if called == "" {
		return id
	}
	return fmt.Sprintf("%q (%s)", shortened(called), id)
}

// phase says where the rule is; empty for the entry point of the deployment.
func (b *bypassed) phase() string {
	switch {
	case b.own():
		return ""
	case b.Level == edge.LevelAccount:
		return " of the account's phase " + string(b.Phase)
	}
	return " of the phase " + string(b.Phase)
}

// rulesOf names the first rules that are skipped.
func (b *bypassed) rulesOf() string {
	names := make([]string, 0, shownRules)
	for _, r := range b.Rules[:min(len(b.Rules), shownRules)] {
		names = append(names, cmp.Or(r.Description, string(r.ID)))
	}
	return rulesText(len(b.Rules)) + " of this deployment (" + words.First(names, len(b.Rules)) + ")"
}

func rulesText(n int) string { return words.Count(n, "rule", "rules") }

// since says why nobody has agreed to the rule.
func (b *bypassed) since() string {
	if b.State == diff.BypassChanged && b.idle {
		return "; it was there without an effect when the deployment was last proved"
	}
	if b.git.Kind != "" && !b.git.Agrees {
		return b.gitSays()
	}
	who := "the declaration"
	if b.Owned() {
		who = b.Owner
	}
	switch b.State {
	case diff.BypassFound, diff.BypassElsewhere:
	case diff.BypassNew:
		return "; it came after the deployment was last proved"
	case diff.BypassChanged:
		return "; it was changed since the deployment was last proved"
	case diff.BypassAccepted:
		return fmt.Sprintf("; it is accepted without an owner (%q)", b.Owner)
	case diff.BypassDiffers:
		return fmt.Sprintf("; %s accepts it %s", who, b.differs)
	case diff.BypassExpired:
		return fmt.Sprintf("; %s accepted it until %s", who, b.Until)
	}
	return ""
}

// gitSays says what git declares of a rule that is live otherwise.
func (b *bypassed) gitSays() string {
	if b.State == diff.BypassExpired {
		return fmt.Sprintf("; %s %q of git is over since %s", b.git.Kind.Word(), b.git.Key, b.Until)
	}
	return fmt.Sprintf("; it is not as %s %q of git", b.git.Kind.Word(), b.git.Key)
}

// acceptance is the CUE that accepts the rule as it is, in one line, by the owner and with the
// end that an acceptance of it has.
func (b *bypassed) acceptance() string {
	until := ""
	if b.Until != "" {
		until = "until: " + quoted(b.Until) + ", "
	}
	return fmt.Sprintf("{owner: %s, %sexpression: %s, skips: %s}", quoted(cmp.Or(b.Owner, desired.NoOwner)), until, quoted(b.Expression), b.skips())
}

// skips is what is skipped, as CUE.
func (b *bypassed) skips() string {
	if b.All {
		return quoted("all")
	}
	ids := make([]string, len(b.Rules))
	for i, r := range b.Rules {
		ids[i] = quoted(r.ID)
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// quoted is a text as CUE and JSON quote it.
func quoted[T ~string](text T) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(text)) // a text can be encoded, and the builder takes it
	return strings.TrimSuffix(b.String(), "\n")
}

const (
	shownID    = 8
	shownRules = 3
	shownText  = 120
)

// shortened is a text of which a reason has the beginning.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= shownText {
		return text
	}
	return string([]rune(text)[:shownText]) + "…"
}
