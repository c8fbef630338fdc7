package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// mark is the shape and the colour of an outcome: a line through a cell of one unit, drawn
// with dashes. The same line through several cells has the shape in each of them. The colours
// stand out from white and from black.
type mark struct {
	Colour string
	Width  string // of the line: the height of the shape
	Dash   string // the width of the shape, and what follows it in the cell
	Offset string
	Cap    string
}

const (
	green  = "#2da44e"
	grey   = "#848d97"
	purple = "#8250df"
	blue   = "#2f81f7"
	amber  = "#bf8700"
	red    = "#d1242f"
)

func square(colour string, width float64) mark { return block(colour, width, width) }

func block(colour string, width, height float64) mark {
	return mark{colour, fmt.Sprintf("%.2g", height), fmt.Sprintf("%.2g %.2g", width, 1-width), fmt.Sprintf("%.2g", (width-1)/2), "butt"}
}

func disc(colour string, width float64) mark {
	return mark{colour, fmt.Sprintf("%.2g", width), "0 1", "-.5", "round"}
}

func pause(colour string) mark { return mark{colour, ".8", ".26 .2 .26 .28", "-.14", "butt"} }

// bars are three: requests pass between them.
func bars(colour string) mark { return mark{colour, ".94", ".22 .14 .22 .14 .22 .06", "-.03", "butt"} }

// marks: what needs a person is a big red shape, what fails a disc, what goes on a blue bar,
// what may stay so is small.
var marks = map[inspect.Outcome]mark{
	inspect.InSync:        square(green, 0.58),
	inspect.NotRead:       square(grey, 0.4),
	inspect.Observed:      block(grey, 0.3, 0.8),
	inspect.PutBack:       block(purple, 0.3, 0.8),
	inspect.Pending:       block(blue, 0.8, 0.34),
	inspect.Waiting:       pause(blue),
	inspect.Unknown:       disc(amber, 0.66),
	inspect.Failed:        disc(amber, 0.94),
	inspect.NonConvergent: disc(red, 0.94),
	inspect.Undecided:     block(red, 0.94, 0.34),
	inspect.Bypassed:      bars(red),
	inspect.NotDeployed:   block(red, 0.34, 0.94),
	inspect.Blocked:       block(red, 0.94, 0.6),
	inspect.Forbidden:     block(red, 0.6, 0.94),
	inspect.Refused:       square(red, 0.94),
	inspect.Quarantined:   square(red, 0.94),
	inspect.Undelivered:   disc(amber, 0.94),
}

// markOf is how an outcome is drawn; one that this program does not know is a small shape.
func markOf(o inspect.Outcome) mark {
	if m, ok := marks[o]; ok {
		return m
	}
	return square(grey, 0.4)
}

// markStyles are the marks beside words, as rules of the style sheet.
func markStyles() string {
	var b strings.Builder
	for _, o := range slices.Sorted(maps.Keys(marks)) {
		m := marks[o]
		fmt.Fprintf(&b, ".mark.%s { stroke: %s; stroke-width: %s; stroke-dasharray: %s; stroke-dashoffset: %s; stroke-linecap: %s; }\n", o, m.Colour, m.Width, m.Dash, m.Offset, m.Cap)
	}
	return b.String()
}
