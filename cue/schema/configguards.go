package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// Guards is what the configuration says of guards.
type Guards struct {
	Rules   []Guard // by name
	Shrink  Shrink
	Freezes []Freeze // by name
	Waves   []Wave
	// Observe selects what is never written. Observing says that this is everything.
	Observe   []Observe
	Observing bool
	// ApprovalsExpire is how long an approval counts that no rollout has begun on.
	ApprovalsExpire time.Duration
	// ReportUnmanaged says that overrides which appear and are not declared are not removed.
	ReportUnmanaged bool
}

// observeMode is the mode in which nothing is written.
const observeMode = "observe"

// Observe selects the zones of an account, or of all, that have all of the labels.
type Observe struct {
	Account string // its key; empty for every account
	Labels  map[string]string
}

// Guard limits what may change, or asks for approvals.
type Guard struct {
	Name      string
	Labels    map[string]string // none: all zones, and tokens
	Changes   *Limit            // nil: none
	Weakening *Limit
	Approve   string // weakening, all, or empty
	Off       bool   // it guards nothing: see [DefaultGuard]
}

// defaultGuard is the name of the guard that counts unless the configuration says otherwise.
const defaultGuard = "default"

// DefaultGuard is the guard that counts where guards.default is not set: few commits weaken
// a large part of a fleet on purpose. The comment of guards.cue has its numbers.
func DefaultGuard() Guard {
	return Guard{Name: defaultGuard, Weakening: &Limit{Percent: new(20), Floor: 5}}
}

// Limit is a number of zones, a share of them, or both; nil is no bound.
type Limit struct {
	Count   *int
	Percent *int
	Floor   int // up to how many zones Percent does not count
}

// Shrink says which commits declare suddenly too little.
type Shrink struct{ Floor, Percent int }

// Freeze is a window in which nothing may change.
type Freeze struct {
	Name          string
	Cron          string // that cron.ParseStandard takes, without @every
	For           time.Duration
	Timezone      *time.Location
	Labels        map[string]string
	Strengthening bool // lets pass what strengthens
	Override      bool
}

// Wave is a step in which a commit reaches the fleet; at most one of Count and
// Percent is above zero.
type Wave struct {
	Labels         map[string]string
	Count, Percent int
	Soak           time.Duration
	NonConvergent  int // zones that halt it; 0: none
	FailedPercent  int
}

func guards(v cue.Value) Guards {
	g := Guards{
		Shrink: Shrink{number(v, "shrink.floor"), percent(v, "shrink.share")}, ApprovalsExpire: duration(v, "approvals.expire"),
		ReportUnmanaged: text(v, "drift.unmanaged") == "report",
	}
	each(v, "guards", func(name, path string) {
		off, _ := at(v, path+".off").Bool() // none but the default has it
		g.Rules = append(g.Rules, Guard{
			Name: name, Labels: labels(v, path), Approve: text(v, path+".approve"),
			Changes: limit(v, path+".changes"), Weakening: limit(v, path+".weakening"), Off: off,
		})
	})
	if !at(v, "guards."+defaultGuard).Exists() {
		g.Rules = append(g.Rules, DefaultGuard())
		slices.SortFunc(g.Rules, func(a, b Guard) int { return strings.Compare(a.Name, b.Name) })
	}
	each(v, "freezes", func(name, path string) {
		override, _ := at(v, path+".override").Bool() // validated: a boolean
		g.Freezes = append(g.Freezes, Freeze{
			Name: name, Cron: text(v, path+".cron"), For: duration(v, path+`."for"`), Labels: labels(v, path),
			Strengthening: text(v, path+".allow") != "", Override: override,
		})
	})
	g.Observing = text(v, "mode") == observeMode
	selectors, _ := at(v, "observe").List() // validated: a list
	for selectors.Next() {
		g.Observe = append(g.Observe, Observe{Account: text(selectors.Value(), "account"), Labels: labels(selectors.Value(), "")})
	}
	list, _ := at(v, "waves").List() // validated: a list
	for i := 0; list.Next(); i++ {
		g.Waves = append(g.Waves, wave(list.Value()))
	}
	return g
}

// each calls do for each member of a struct, in the order of their names.
func each(v cue.Value, path string, do func(name, path string)) {
	var names []string
	fields, _ := at(v, path).Fields() // validated: a struct
	for fields.Next() {
		names = append(names, fields.Selector().Unquoted())
	}
	slices.Sort(names)
	for _, name := range names {
		do(name, cue.MakePath(cue.Str(path), cue.Str(name)).String())
	}
}

func wave(v cue.Value) Wave {
	w := Wave{
		Labels: labels(v, ""), Soak: duration(v, "soak"),
		NonConvergent: number(v, "halt.non_convergent"), FailedPercent: percent(v, "halt.failed"),
	}
	if at(v, "size").IncompleteKind() == cue.StringKind {
		w.Percent = percent(v, "size")
	} else {
		w.Count = number(v, "size")
	}
	return w
}

func limit(v cue.Value, path string) *Limit {
	if !at(v, path).Exists() {
		return nil
	}
	l := &Limit{Floor: number(v, path+".floor")}
	if at(v, path+".count").Exists() {
		l.Count = new(number(v, path+".count"))
	}
	if at(v, path+".share").Exists() {
		l.Percent = new(percent(v, path+".share"))
	}
	return l
}

func labels(v cue.Value, path string) map[string]string {
	if path != "" {
		v = at(v, path)
	}
	found := map[string]string{}
	fields, err := at(v, "labels").Fields()
	for err == nil && fields.Next() {
		found[fields.Selector().Unquoted()], _ = fields.Value().String() // validated: text
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

func percent(v cue.Value, path string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(text(v, path), "%")) // the schema holds the form
	return n
}

// checkGuards: CUE knows no cron expressions and no time zones, and does not
// compare shares or durations.
func (c *configReader) checkGuards(config *Config, v cue.Value) {
	if p := config.Guards.Shrink.Percent; p < 10 || p > 90 {
		c.problem("shrink.share", fmt.Sprintf(`"%d%%" is not between 10%% and 90%%`, p), "")
	}
	for _, g := range config.Guards.Rules {
		c.checkRule(cue.MakePath(cue.Str("guards"), cue.Str(g.Name)).String(), g)
	}
	for i := range config.Guards.Freezes {
		f := &config.Guards.Freezes[i]
		c.checkFreeze(cue.MakePath(cue.Str("freezes"), cue.Str(f.Name)).String(), f, config, v)
	}
	for i, o := range config.Guards.Observe {
		if o.Account == "" && len(o.Labels) == 0 {
			c.problem(fmt.Sprintf("observe[%d]", i), "selects nothing", `give it an account, labels, or both; mode: "observe" is for everything`)
		}
	}
	for i, w := range config.Guards.Waves {
		if w.Soak < 0 {
			c.problem(fmt.Sprintf("waves[%d].soak", i), fmt.Sprintf("%q is below zero", w.Soak), "")
		}
	}
}

func (c *configReader) checkRule(path string, g Guard) {
	limits := g.Changes != nil || g.Weakening != nil || g.Approve != ""
	switch {
	case g.Off && (limits || len(g.Labels) > 0):
		c.problem(path, "is off and guards something", "leave out off, or all else")
	case !g.Off && !limits:
		c.problem(path, "guards nothing", "give it changes, weakening or approve")
	}
	for name, l := range map[string]*Limit{"changes": g.Changes, "weakening": g.Weakening} {
		if l != nil && l.Count == nil && l.Percent == nil {
			c.problem(path+"."+name, "limits nothing", "give it a count, a share, or both")
		}
	}
}

func (c *configReader) checkFreeze(path string, f *Freeze, config *Config, v cue.Value) {
	err := parseCron(f.Cron)
	if err == nil && strings.HasPrefix(f.Cron, "@every") {
		err = errors.New("@every has no start time")
	}
	if err != nil {
		c.problem(path+".cron", fmt.Sprintf("%q is not a cron expression: %v", f.Cron, err), `five fields such as "0 18 * * 5", or @daily`)
	}
	if f.For <= 0 {
		c.problem(path+`."for"`, fmt.Sprintf("%q is not a duration above zero", text(v, path+`."for"`)), "")
	}
	if f.Timezone = config.Schedule.Timezone; !at(v, path+".timezone").Exists() {
		return
	}
	name := text(v, path+".timezone")
	if f.Timezone, err = time.LoadLocation(name); err != nil || name == "Local" {
		c.problem(path+".timezone", fmt.Sprintf("%q is not a known time zone", name), `write a name of the IANA database, such as "Europe/Berlin"`)
	}
}
