package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// Guards is what the configuration says of guards.
type Guards struct {
	Rules   []Guard  // by name
	Shrink  Shrink   `cue:"shrink"`
	Freezes []Freeze // by name
	Waves   []Wave   `cue:"waves"`
	// Observe selects what is never written. Observing says that this is everything.
	Observe   []Observe `cue:"observe"`
	Observing bool
	// ApprovalsExpire is how long an approval counts that no rollout has begun on.
	ApprovalsExpire time.Duration `cue:"approvals.expire" is:"positive"`
	// ReportUnmanaged says that overrides which appear and are not declared are not removed.
	ReportUnmanaged bool
}

// observeMode is the mode in which nothing is written.
const observeMode = "observe"

// Observe selects the zones of an account, or of all, that have all of the labels.
type Observe struct {
	Account string            `cue:"account"` // its key; empty for every account
	Labels  map[string]string `cue:"labels"`
}

// Guard limits what may change, or asks for approvals.
type Guard struct {
	Name      string
	Labels    map[string]string `cue:"labels"`  // none: all zones, and tokens
	Changes   *Limit            `cue:"changes"` // nil: none
	Weakening *Limit            `cue:"weakening"`
	Approve   string            `cue:"approve"` // weakening, all, or empty
	Off       bool              `cue:"off"`     // it guards nothing: see [DefaultGuard]
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
	Count   *int `cue:"count"`
	Percent *int `cue:"share"`
	Floor   int  `cue:"floor"` // up to how many zones Percent does not count
}

// Shrink says which commits declare suddenly too little.
type Shrink struct {
	Floor   int `cue:"floor"`
	Percent int `cue:"share"`
}

// Freeze is a window in which nothing may change.
type Freeze struct {
	Name          string
	Cron          string        `cue:"cron"` // that cron.ParseStandard takes, without @every
	For           time.Duration `cue:"\"for\""`
	Timezone      *time.Location
	Labels        map[string]string `cue:"labels"`
	Strengthening bool              // lets pass what strengthens
	Override      bool              `cue:"override"`
}

// Wave is a step in which a commit reaches the fleet; at most one of Count and
// Percent is above zero.
type Wave struct {
	Labels        map[string]string `cue:"labels"`
	Count         int               `cue:"size"`
	Percent       int
	Soak          time.Duration `cue:"soak"`
	NonConvergent int           `cue:"halt.non_convergent"` // zones that halt it; 0: none
	FailedPercent int           `cue:"halt.failed"`
}

func (c *configReader) guards(v cue.Value) (g Guards) {
	c.fill(reflect.ValueOf(&g).Elem(), v)
	g.ReportUnmanaged = text(v, "drift.unmanaged") == "report"
	g.Observing = text(v, "mode") == observeMode
	each(v, "guards", func(name, path string) {
		one := Guard{Name: name}
		c.fill(reflect.ValueOf(&one).Elem(), at(v, path))
		g.Rules = append(g.Rules, one)
	})
	if !at(v, "guards."+defaultGuard).Exists() {
		g.Rules = append(g.Rules, DefaultGuard())
		slices.SortFunc(g.Rules, func(a, b Guard) int { return strings.Compare(a.Name, b.Name) })
	}
	each(v, "freezes", func(name, path string) {
		one := Freeze{Name: name, Strengthening: text(v, path+".allow") != ""}
		c.fill(reflect.ValueOf(&one).Elem(), at(v, path))
		g.Freezes = append(g.Freezes, one)
	})
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

// read tells a size in percent from one in zones.
func (w *Wave) read(c *configReader, v cue.Value) {
	c.fillMembers(reflect.ValueOf(w).Elem(), v)
	if at(v, "size").IncompleteKind() == cue.StringKind {
		w.Count, w.Percent = 0, w.Count
	}
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
	if f.Timezone = config.Schedule.Timezone; at(v, path+".timezone").Exists() {
		f.Timezone = c.location(path+".timezone", text(v, path+".timezone"))
	}
}
