package pagetest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// NewestVersion is the number of the newest version of a managed ruleset; each week there was one.
const NewestVersion = 45

// versionsPerPage is how many versions a page of the radar has.
const versionsPerPage = 20

// published is a new version by its number: the newest weakens, blocks and strengthens, one in
// four means nothing for zones, and one was recorded by an earlier program.
func (d *Data) published(number int64, may func(inspect.ZoneLabels) bool) radar.Published {
	at := At.AddDate(0, 0, -7*int(NewestVersion-number)).Add(-20 * time.Hour)
	account := Accounts[number%int64(len(Accounts))]
	p := radar.Published{
		Accounts: []radar.Account{{Key: d.text("%s", account), ID: edge.AccountID(fmt.Sprintf("%032x", 0xacc0+number%3))}},
		ID:       "c04e0000000000000000000000000001", Name: d.text("Core Ruleset"), KeptSince: At.AddDate(-1, 0, 0),
		Versions: []radar.Seen{{Version: fmt.Sprint(200 + number - 3), At: at.AddDate(0, 0, -21)}, {Version: fmt.Sprint(200 + number), At: at}},
		Rules:    d.newRules(number), Groups: []radar.Group{},
	}
	groups := d.newGroups()
	if number%4 != NewestVersion%4 {
		p.Unchanged, p.Pinned = len(d.rows)/len(Accounts), 1
		return p
	}
	for i, r := range d.rows {
		if r.Account != p.Accounts[0].Key || may != nil && !may(d.labels(r)) {
			continue
		}
		g := 0
		switch {
		case i%40 == 2:
			g = 1
		case i%10 > 6:
			g = 2
		}
		groups[g].Zones = append(groups[g].Zones, radar.Zone{Account: r.Account, Zone: r.Zone, Scope: r.Scope, Deployment: d.text("core"), Origin: r.Origin})
	}
	for _, g := range groups {
		if len(g.Zones) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	return p
}

func (d *Data) rule(ref, description string, tags ...string) radar.Rule {
	return radar.Rule{
		ID: "c04e0000000000000000000100000002", Ref: d.text("%s", ref), Description: d.text("%s", description), Tags: tags, Enabled: true, Action: edge.ActionBlock,
	}
}

// newRules has all that can change in one version of four.
func (d *Data) newRules(number int64) radar.Rules {
	score := new(40)
	last := d.rule("score", "Anomaly score")
	last.Score = score
	all := radar.Rules{
		Removed: []radar.Rule{d.rule("xss-script", "Cross-site scripting by a script tag", "paranoia-level-1", "xss")},
		Added:   []radar.Rule{d.rule("sqli-comment", "SQL injection by a comment", "paranoia-level-2", "sqli"), d.rule("rce-shell", "", "rce")},
		Changed: []radar.Changed{
			{Rule: d.rule("sqli-union", "SQL injection by a union"), Members: []radar.Member{{Path: "action", Old: "block", New: "log"}, {Path: "tags", Old: []string{d.text("sqli")}}}},
			{Rule: d.rule("lfi", "Inclusion of local files"), Members: []radar.Member{{Path: "enabled", Old: false, New: true}, {Path: "score_threshold", Old: 60, New: 40}}},
		},
		Last: &radar.LastRules{Old: new(d.rule("score-1", "Anomaly score, first edition")), New: &last}, Revised: 3,
	}
	switch number % 4 {
	case 0:
		return radar.Rules{Removed: []radar.Rule{}, Added: all.Added[:1], Changed: []radar.Changed{}}
	case 2:
		return radar.Rules{Removed: []radar.Rule{}, Added: []radar.Rule{}, Changed: all.Changed[:1]}
	case 3:
		return radar.Rules{Removed: []radar.Rule{}, Added: []radar.Rule{}, Changed: []radar.Changed{}, Revised: 7}
	}
	return all
}

// summaries are of these.
var summaries = []string{
	"1 added", "1 removed, 2 added, 2 changed, another last rule, 3 revised without a difference that the platform shows", "1 changed",
	"7 revised without a difference that the platform shows",
}

func (d *Data) newGroups() []radar.Group {
	effect := func(action edge.Action) *rulesets.Effect {
		return &rulesets.Effect{Enabled: true, Action: action}
	}
	union := radar.Effect{
		Rule: d.rule("sqli-union", "SQL injection by a union"), Direction: diff.Weakens, Before: effect(edge.ActionBlock), After: effect(edge.ActionLog),
	}
	return []radar.Group{
		{Direction: diff.Weakens, Rules: []radar.Effect{union, {Rule: d.rule("xss-script", "Cross-site scripting by a script tag"), Direction: diff.Weakens, Before: effect(edge.ActionBlock)}}},
		{Direction: diff.Weakens, Blocked: true, Rules: []radar.Effect{union}, Mistakes: []rulesets.Mistake{{
			Reason: d.text(`disable.rules: managed ruleset "Core Ruleset" has no rule xss-script (version 245)`), Hint: d.text("take it out of the declaration"), Origin: originOf(d.text("tiers.cue"), 14),
		}}},
		{Direction: diff.Strengthens, Rewritten: true, Rules: []radar.Effect{{Rule: d.rule("lfi", "Inclusion of local files"), Direction: diff.Strengthens, After: effect(edge.ActionBlock)}}},
	}
}

func (d *Data) radarRow(number int64, may func(inspect.ZoneLabels) bool) (inspect.RadarRow, radar.Published) {
	p := d.published(number, may)
	row := inspect.RadarRow{Number: number, News: p.News()}
	row.Rules.Summary = d.text("%s", summaries[number%4])
	if number%9 != 4 { // else an earlier program has recorded it
		counts := p.Counts()
		row.Zones = &counts
	}
	return row, p
}

// Radar implements [page.Data].
func (d *Data) Radar(_ context.Context, q inspect.RadarQuery) (inspect.RadarList, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := inspect.RadarList{Version: inspect.Version, At: At, Kept: true, Versions: []inspect.RadarRow{}}
	if d.empty {
		return list, nil
	}
	list.Rulesets, list.KeptSince = len(Accounts), At.AddDate(-1, 0, 0)
	from := int64(NewestVersion)
	if q.After != "" {
		after, err := strconv.ParseInt(q.After, 10, 64)
		if err != nil {
			return list, inspect.ErrAfter
		}
		from = after - 1
	}
	for n := from; n > 0; n-- {
		row, _ := d.radarRow(n, q.May)
		if q.Account != "" && row.Account != q.Account || row.FirstSeen.Before(q.Since) {
			continue
		}
		if len(list.Versions) == versionsPerPage {
			list.Next = strconv.FormatInt(list.Versions[versionsPerPage-1].Number, 10)
			break
		}
		list.Versions = append(list.Versions, row)
	}
	return list, nil
}

// RadarVersion implements [page.Data].
func (d *Data) RadarVersion(_ context.Context, number int64, q inspect.RadarQuery) (inspect.RadarPage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	result := inspect.RadarPage{Version: inspect.Version, At: At, Groups: []radar.Extract{}}
	if d.empty || number > NewestVersion {
		return result, fmt.Errorf("%w: version %d", page.ErrNotFound, number)
	}
	from := 0
	if q.After != "" {
		var err error
		if from, err = strconv.Atoi(q.After); err != nil || from <= 0 {
			return result, inspect.ErrAfter
		}
	}
	row, p := d.radarRow(number, q.May)
	result.News, result.Rules = row, p.Rules
	pages := p.Extracts()
	for place := 0; len(pages) > 0 && result.Next == ""; pages = pages[1:] {
		switch {
		case len(result.Groups) > 0:
			result.Next = strconv.Itoa(place)
		case place >= from:
			result.Groups = pages[0]
		}
		for _, e := range pages[0] {
			place += len(e.Zones)
		}
	}
	return result, nil
}
