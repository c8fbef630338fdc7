package main

import (
	"fmt"
	"strings"
	"time"
)

// Floors for noise: a machine that others use too starts processes late.
const (
	driftFloor = 1500 * time.Millisecond
	pushFloor  = 2 * time.Second
)

// The aims of a row, each by itself.

func (r row) driftMet() bool {
	d := r.disturbed.drift
	return r.drift.none || d.within(r.undisturbed.drift, 0.5, driftFloor) && d.within(r.undisturbed.drift, 0.9, driftFloor) && d.missing == 0
}

func (r row) pushesMet() bool {
	return r.pushes != pushesCount || r.disturbed.pushes.within(r.undisturbed.pushes, 1, pushFloor)
}

func (r row) writesMet() bool { return r.writes <= r.allowed }

func (r row) recoveryMet() bool { return !r.restarted && (r.recovered || r.notWaited) }

// met reports whether the row misses nothing.
func (r row) met() bool {
	return r.err == nil && r.driftMet() && r.pushesMet() && r.writesMet() && r.recoveryMet() && r.linesMet()
}

// cells are the row of the table. What misses its aim is bold.
func (r row) cells() []string {
	if r.err != nil {
		return []string{r.fault, bold("not measured: "+oneLine(r.err.Error()), false), "", "", "", ""}
	}
	return []string{
		r.fault,
		bold(r.driftCell(), r.driftMet()),
		bold(r.pushCell(), r.pushesMet()),
		bold(fmt.Sprint(r.writes), r.writesMet()),
		bold(r.recoveryCell(), r.recoveryMet()),
		bold(r.linesCell(), r.linesMet()),
	}
}

func (r row) driftCell() string {
	if r.drift.none {
		return "–"
	}
	text := fmt.Sprintf("%s → %s (%s)", r.undisturbed.drift.quantiles(), r.disturbed.drift.quantiles(),
		r.disturbed.drift.ratio(r.undisturbed.drift, 0.9))
	if n := r.disturbed.drift.missing; n > 0 {
		text += fmt.Sprintf("; %d of %d not healed", n, r.disturbed.drift.count())
	}
	return text
}

func (r row) pushCell() string {
	switch r.pushes {
	case pushesNone:
		return "–"
	case pushesShow:
		return r.disturbed.pushes.longest()
	case pushesCount:
	}
	return fmt.Sprintf("%s → %s (%s)", r.undisturbed.pushes.longest(), r.disturbed.pushes.longest(),
		r.disturbed.pushes.ratio(r.undisturbed.pushes, 1))
}

func (r row) recoveryCell() string {
	switch {
	case r.restarted:
		return "no: the daemon ended"
	case r.notWaited:
		return r.slow
	case r.recovered:
		return "after " + seconds(r.recoveredIn) + " s"
	}
	return "no, not within " + seconds(r.recoveredIn) + " s"
}

func bold(text string, met bool) string {
	if met {
		return text
	}
	return "**" + text + "**"
}

// oneLine makes a text fit into a cell.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`).Replace(text)
}
