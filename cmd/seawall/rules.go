package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// rulesFlags say which rules are listed.
type rulesFlags struct {
	setup.Options
	account, grep string
	tags          []string
}

func newRules(t *cli.Terminal) *cobra.Command {
	var f rulesFlags
	cmd := &cobra.Command{
		Use:   "rules [RULESET]",
		Short: "List the rules of managed rulesets",
		Long: `List the rules of the managed rulesets that the accounts declare, or of RULESET: the
key, the name or the id of one. Of each rule: id, ref, default action, tags and
description. A declaration names a rule by its id, by {ref: …}, or by {description: …}
if no other rule of the ruleset has this description.

--grep lists the rules that have each word of TEXT in id, ref or description, in upper
or lower case. --tag lists those with a tag. Only reads are sent.

Exit codes: 0, also if no rule is found; 4 the rulesets of an account could not be read;
1 failure.`,
		Example: `  seawall rules
  seawall rules core --grep wordpress
  seawall rules "Core Ruleset" --tag sqli -o json | jq -r '.rulesets[].rules[].id'`,
		Args:              perhapsRuleset,
		ValidArgsFunction: setup.CompleteRuleset,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRules(t, cmd.Context(), f, strings.Join(args, ""))
		},
	}
	f.AddSource(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.account, "account", "", "limit to the account with this declared `KEY`")
	flags.StringVar(&f.grep, "grep", "", "limit to rules with each word of `TEXT`")
	flags.StringArrayVar(&f.tags, "tag", nil, "limit to rules with the tag `TAG` (repeatable: with each of them)")
	cli.AddOutput(cmd, &f.Output, "text", "json")
	_ = cmd.RegisterFlagCompletionFunc("account", setup.CompleteAccount)
	return cmd
}

func runRules(t *cli.Terminal, ctx context.Context, f rulesFlags, ruleset string) error {
	s, err := setup.ReadSettings(t, f.Options)
	if err != nil {
		return err
	}
	state, err := setup.LoadState(ctx, t, f.Options)
	if err != nil {
		return err
	}
	reading, err := setup.ReadPlatform(s, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer reading.Close()
	b := book{reading: reading, documented: !s.Platform.Extended(), wanted: ruleset, accounts: map[int]*zone.Accounts{}, sets: []listedRuleset{}}
	if err := b.read(ctx, state, f.account); err != nil {
		return err
	}
	for _, problem := range b.problems {
		t.ShowError(problem)
	}
	if err := showRules(t, f, b.sets); err != nil {
		return err
	}
	return cli.Attention(len(b.problems) > 0)
}

// book reads managed rulesets with their rules.
type book struct {
	reading    setup.Reading
	documented bool
	wanted     string // the key, name or id of a ruleset; empty for all that are declared
	accounts   map[int]*zone.Accounts
	sets       []listedRuleset
	known      []string // names and keys of rulesets that there are
	problems   []error  // of accounts that could not be read
}

func (b *book) read(ctx context.Context, state desired.State, only string) error {
	state = b.reading.Lanes.Within(state)
	var keys []string
	for _, a := range state.Accounts {
		keys = append(keys, a.Key)
	}
	if only != "" {
		if !slices.Contains(keys, only) {
			return cli.Fail(fmt.Errorf("no account %q is declared", only), "declared: "+strings.Join(keys, ", "))
		}
		state.Accounts = slices.DeleteFunc(slices.Clone(state.Accounts), func(a desired.Account) bool { return a.Key != only })
	}
	if len(keys) == 0 {
		return cli.Fail(errors.New("the desired state declares no account"), "seawall import writes one from what is live")
	}
	for _, a := range state.Accounts {
		if err := b.readAccount(ctx, a); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			b.problems = append(b.problems, fmt.Errorf("account %s: %w", a.Key, err))
		}
	}
	if b.wanted != "" && len(b.sets) == 0 && len(b.problems) == 0 {
		slices.Sort(b.known)
		return cli.Fail(fmt.Errorf("there is no managed ruleset %q", b.wanted),
			nearest.Hint(b.wanted, b.known, "there is: "+strings.Join(slices.Compact(b.known), ", ")))
	}
	return nil
}

// readAccount reads the rulesets of an account by the means of a plan: where the credential
// may not list those of the account, one of its zones is asked.
func (b *book) readAccount(ctx context.Context, a desired.Account) error {
	lane := b.reading.Lanes.Index(a.Key)
	if lane < 0 {
		return errors.New("the configuration has no credential for it")
	}
	a.Zones = aZone(a)
	scope := desired.State{Accounts: []desired.Account{a}}
	b.reading.Names.Look(ctx, scope)
	a = b.reading.Names.Resolve(scope).Accounts[0]
	if err := b.reading.Names.CheckAccount(a); err != nil {
		return err
	}
	if b.accounts[lane] == nil {
		b.accounts[lane] = zone.NewAccounts(b.reading.Lanes.All[lane].Reader, time.Now)
		b.accounts[lane].Documented = b.documented
	}
	live, _, err := b.accounts[lane].Live(ctx, deploying(a, a.Rulesets), time.Time{})
	if err != nil || live.Listed.Err != nil {
		return errors.Join(err, live.Listed.Err)
	}
	refs := b.refs(a, live.Listed.Value)
	if live, _, err = b.accounts[lane].Live(ctx, deploying(a, refs), time.Time{}); err != nil {
		return err
	}
	var failed error
	for _, ref := range refs {
		found, err := rulesets.Find(ref, live.Listed.Value)
		if err == nil {
			err = live.Managed[found.ID].Err
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		b.add(a.Key, live.Managed[found.ID].Value)
	}
	return failed
}

// aZone is a zone of an account that may be asked in its place.
func aZone(a desired.Account) []desired.Zone {
	for _, z := range a.Zones {
		if z.Scope.Level != edge.LevelAccount && len(z.Deployments) > 0 {
			return []desired.Zone{z}
		}
	}
	return []desired.Zone{{Scope: edge.Scope{Level: edge.LevelAccount}}}
}

// deploying is an account that runs these rulesets: they are read in full.
func deploying(a desired.Account, refs []desired.RulesetRef) desired.Account {
	a.Rulesets, a.Zones = refs, slices.Clone(a.Zones)
	a.Zones[0].Deployments = nil
	for _, ref := range refs {
		a.Zones[0].Deployments = append(a.Zones[0].Deployments, desired.Deployment{Ruleset: ref.Key})
	}
	return a
}

// refs are the rulesets of an account that are listed: the one that is wanted, or those
// that are declared, or all where none is.
func (b *book) refs(a desired.Account, listed []edge.Ruleset) (refs []desired.RulesetRef) {
	for _, ref := range a.Rulesets {
		b.known = append(b.known, ref.Key)
		if b.wanted == "" || b.wanted == ref.Key {
			refs = append(refs, ref)
		}
	}
	if len(refs) > 0 {
		return refs
	}
	for _, r := range listed {
		if r.Kind != edge.KindManaged || r.Phase != edge.PhaseFirewallManaged {
			continue
		}
		b.known = append(b.known, r.Name)
		if b.wanted == "" || b.wanted == r.Name || b.wanted == string(r.ID) {
			refs = append(refs, desired.RulesetRef{Key: string(r.ID), ID: r.ID})
		}
	}
	return refs
}

func (b *book) add(account string, r edge.Ruleset) {
	i := slices.IndexFunc(b.sets, func(l listedRuleset) bool { return l.ID == r.ID && l.Version == r.Version })
	if i < 0 {
		set := listedRuleset{[]string{account}, r.ID, r.Name, r.Version, make([]listedRule, len(r.Rules)), len(r.Rules)}
		for n, rule := range r.Rules {
			set.Rules[n] = listed(rule)
		}
		b.sets = append(b.sets, set)
		return
	}
	if !slices.Contains(b.sets[i].Accounts, account) {
		b.sets[i].Accounts = append(b.sets[i].Accounts, account)
	}
}

// listedRule is a rule as it is listed.
type listedRule struct {
	ID          edge.RuleID `json:"id"`
	Ref         string      `json:"ref"`
	Description string      `json:"description"`
	Tags        []string    `json:"tags"`
	Action      edge.Action `json:"action"` // by default, as enabled and score_threshold are
	Enabled     bool        `json:"enabled"`
	Score       *int        `json:"score_threshold,omitempty"`
}

func listed(r edge.Rule) listedRule {
	rule := listedRule{ID: r.ID, Ref: r.Ref, Tags: append([]string{}, r.Categories...), Action: r.Action, Enabled: r.IsEnabled(), Score: r.ScoreThreshold}
	if r.Description != nil {
		rule.Description = *r.Description
	}
	return rule
}

// text is what --grep searches.
func (r listedRule) text() string { return r.Ref + " " + r.Description + " " + string(r.ID) }

func (r listedRule) byDefault() string {
	text := string(r.Action)
	if r.Score != nil {
		text += fmt.Sprintf(" at %d", *r.Score)
	}
	if !r.Enabled {
		text += ", off"
	}
	return text
}

func (f rulesFlags) wants(r listedRule) bool {
	text := strings.ToLower(r.text())
	for _, word := range strings.Fields(strings.ToLower(f.grep)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return !slices.ContainsFunc(f.tags, func(tag string) bool { return !slices.Contains(r.Tags, tag) })
}

// listedRuleset is a managed ruleset as it is listed.
type listedRuleset struct {
	Accounts []string       `json:"accounts"` // that have this version of it
	ID       edge.RulesetID `json:"id"`
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	Rules    []listedRule   `json:"rules"`
	of       int            // how many rules it has
}

func showRules(t *cli.Terminal, f rulesFlags, sets []listedRuleset) error {
	var all []listedRule
	found := 0
	for i, set := range sets {
		all = append(all, set.Rules...)
		sets[i].Rules = slices.DeleteFunc(set.Rules, func(r listedRule) bool { return !f.wants(r) })
		found += len(sets[i].Rules)
	}
	if found == 0 && len(all) > 0 {
		t.Hint(f.instead(all))
	}
	facts := struct {
		Version  int             `json:"version"`
		Rulesets []listedRuleset `json:"rulesets"`
	}{1, sets}
	return t.Show(f.Output, facts, func() error { return cli.Apart(t.Out, sets, func(set listedRuleset) error { return set.show(t) }) })
}

// instead names what may have been meant where no rule is found.
func (f rulesFlags) instead(all []listedRule) string {
	var tags, texts []string
	for _, r := range all {
		tags, texts = append(tags, r.Tags...), append(texts, r.text())
	}
	for _, tag := range f.tags {
		if near := nearest.Word(tag, tags); near != "" && !slices.Contains(tags, tag) {
			return fmt.Sprintf("no rule has the tag %q; did you mean %q?", tag, near)
		}
	}
	var near []string
	for _, i := range nearest.Texts(f.grep, texts, 3) {
		near = append(near, fmt.Sprintf("%s (%s, %q)", all[i].ID, all[i].Ref, all[i].Description))
	}
	if len(near) == 0 {
		return ""
	}
	return "the nearest: " + strings.Join(near, ", ")
}

func (s listedRuleset) show(t *cli.Terminal) error {
	count := cli.Plural(s.of, "rule", "rules")
	if len(s.Rules) < s.of {
		count = fmt.Sprintf("%d of %s", len(s.Rules), count)
	}
	fmt.Fprintf(t.Out, "%s (%s), version %s, in %s: %s\n", cli.OneLine(s.Name), s.ID, cli.OneLine(s.Version), cli.OneLine(strings.Join(s.Accounts, ", ")), count)
	if len(s.Rules) == 0 {
		return nil
	}
	rows := [][]string{{"ID", "REF", "DEFAULT", "TAGS", "DESCRIPTION"}}
	for _, r := range s.Rules {
		rows = append(rows, []string{string(r.ID), r.Ref, r.byDefault(), strings.Join(r.Tags, " "), r.Description})
	}
	return t.Table(rows)
}
