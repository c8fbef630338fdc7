package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// tell adds to the change of an exception which rules it turns off, and why it is switched off.
func (p *exceptions) tell(c *diff.Change) {
	e := p.resolved[c.ID()]
	if e == nil || c.Action() == diff.ActionRemove {
		return
	}
	if e.of.Execute == "" {
		c.Turn -= beforeDeployments // the execute rule comes to stand behind all that is there
	}
	on, begins := p.begins(c, e)
	if begins {
		_, c.TurnsOff = e.changes(nil, e.parameters())
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		updates := c.Action() == diff.ActionUpdate
		notes := []string{f.Note} // of a takeover
		switch f.Path {
		case skipMember:
			if on {
				note, off := e.changes(f.Old, f.New)
				if notes = append(notes, note); !begins { // else it turns off all that it names
					c.TurnsOff = off
				}
			}
			if updates { // else a remark says it
				notes = append(notes, e.skip.gone...)
			}
		case "enabled":
			notes = append(notes, e.switched(f.New != false, on && updates))
		case orderMember:
			if updates && p.stoodBehind(c, e) {
				notes = append(notes, fmt.Sprintf("behind the execute rule of %q it has no effect", e.Of))
			}
		}
		f.Note = joinedNotes(notes...)
	}
}

// switched says why it is switched off, or what it turns off where that begins.
func (e *exception) switched(on, begins bool) (note string) {
	switch {
	case !on && e.over:
		return "its last day was " + e.until
	case begins:
		note, _ = e.changes(nil, e.parameters())
	}
	return note
}

// begins reports whether an exception is on after a change, and whether it had no effect before.
func (p *exceptions) begins(c *diff.Change, e *exception) (on, begins bool) {
	o, _ := c.Operation.(diff.RuleOperation)
	if !o.Body.IsEnabled() {
		return false, false
	}
	enabled := c.Field("enabled")
	return true, c.Action() == diff.ActionDeploy || enabled != nil || e.of.Execute != "" && p.stoodBehind(c, e)
}

// beforeDeployments is more than there are rules in a phase: a turn before that of deployments.
const beforeDeployments = 1 << 20

func (p *exceptions) stoodBehind(c *diff.Change, e *exception) bool {
	live := p.in.Live.EntryPoints[c.Scope.At(p.phase)].Value.Rules
	return behind(live, e.Key, e.of.Execute)
}

func (e *exception) parameters() any { return map[string]any(e.skip.parameters) }

// changes says what a skip rule turns off that was not off before, or what it turns on again: in
// words, and the rules where it names rules.
func (e *exception) changes(before, after any) (note string, off []diff.SkippedRule) {
	was, is := reachOf(before), reachOf(after)
	if before == nil {
		was = reach{known: true}
	}
	ruleset := e.of.Managed.ID()
	all, now := is.of(ruleset)
	allBefore, earlier := was.of(ruleset)
	switch {
	case all && is.Current:
		return fmt.Sprintf("turns off each managed ruleset behind it; of %s %s", e.Of, onText(len(e.of.Managed.On(nil)))), nil
	case all && !allBefore:
		return fmt.Sprintf("turns off all of %s: %s", e.Of, onText(len(e.of.Managed.On(nil)))), nil
	case all:
		return "", nil
	}
	if more := was.lacks(ruleset, now); len(more) > 0 {
		off = e.of.Managed.On(more)
		return joinedNotes("turns off "+onRules(off), e.again(is, earlier, allBefore)), off
	}
	return e.again(is, earlier, allBefore), nil
}

// again says which rules a narrower exception does not turn off any more.
func (e *exception) again(is reach, earlier []edge.RuleID, all bool) string {
	if all {
		return "does not turn off all of " + e.Of + " any more"
	}
	less := is.lacks(e.of.Managed.ID(), earlier)
	if on := e.of.Managed.On(less); len(less) > 0 && len(on) > 0 {
		return "does not turn off any more: " + named(on)
	}
	return ""
}

func onText(n int) string {
	if n == 1 {
		return "1 rule is on"
	}
	return fmt.Sprintf("%d rules are on", n)
}

// onRules are rules that are on, by name.
func onRules(on []diff.SkippedRule) string {
	switch len(on) {
	case 0:
		return "no rule that is on"
	case 1:
		return "1 rule that is on: " + named(on)
	}
	return fmt.Sprintf("%d rules that are on: %s", len(on), named(on))
}

func joinedNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

// remark notes that an exception ends soon or has ended, and what it names that is gone beside what
// is there.
func (p *exceptions) remark(o desired.Other, e exception) {
	r := diff.Remark{
		Account: p.account.Key, Zone: p.zone.Key, Scope: p.zone.Scope, Kind: p.name, Deployment: o.Key, Origin: o.Origin,
	}
	end, has := o.Ends()
	left := end.Sub(p.in.Now)
	switch {
	case !has || p.in.Now.IsZero():
	case e.over:
		r.What, r.Text, r.At, r.Hint = diff.Ended, "is over: its last day was "+e.until, end, "remove it from the repository, or set a later until"
	case left <= diff.EndsWithin:
		r.What, r.Text, r.At, r.Hint = diff.EndsSoon, diff.EndingIn(left), end, "set a later until, or let it end: Seawall switches it off then"
	}
	if at, declared := o.Places["until"]; declared {
		r.Origin = at
	}
	if r.What != "" {
		p.out.Remarks = append(p.out.Remarks, r)
	}
	if len(e.skip.gone) > 0 && len(e.skip.parameters) > 0 && !e.over {
		r.What, r.Text, r.Hint, r.Origin = diff.RuleGone, "leaves out what is gone: "+strings.Join(e.skip.gone, "; "), "take it out of the declaration", o.Origin
		if at, declared := o.Places[string(skipMember)]; declared {
			r.Origin = at
		}
		p.out.Remarks = append(p.out.Remarks, r)
	}
}

func withArticle(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
