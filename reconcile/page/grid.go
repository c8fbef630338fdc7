package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// The addresses of the picture of the fleet, and of a place in it: a browser adds "?x,y" to
// the link around a picture that is a map, in pixels.
const (
	gridImage = "/grid.svg"
	gridPlace = "/grid"
)

// The widths of the picture in pixels: where it is shown, its pixels are those of the page.
// Else a place in it would mean another zone.
const (
	wideGrid   = 960
	narrowGrid = 320
)

var gridParams = append(zoneParams[:len(zoneParams):len(zoneParams)], param{
	name: "width", help: "how wide the picture is, in pixels", check: func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < narrowGrid || n > 4*wideGrid {
			return &badParamError{fmt.Sprintf("%q is no width", text), fmt.Sprintf("a width is %d to %d", narrowGrid, 4*wideGrid)}
		}
		return nil
	},
})

// layout is where the cells of the picture are.
type layout struct{ columns, rows, cell int }

// layoutOf has cells as big as fit into a picture that is about half as high as wide, or as
// high as a narrow screen. They may become small, and then the picture high.
func layoutOf(zones, width int) layout {
	most := max(width/2, 420)
	var l layout
	for _, cell := range []int{24, 20, 16, 12, 10, 8, 6, 5, 4} {
		l.cell, l.columns = cell, min(width/cell, max(1, zones))
		l.rows = max(1, (zones+l.columns-1)/l.columns)
		if l.rows*cell <= most {
			break
		}
	}
	return l
}

// at is the number of the cell at a place in pixels; false where there is none.
func (l layout) at(x, y, zones int) (int, bool) {
	if x < 0 || y < 0 || x >= l.columns*l.cell {
		return 0, false
	}
	i := y/l.cell*l.columns + x/l.cell
	return i, i < zones
}

// gridQuery is the query for zones of a request for the picture, and its width.
func (h *handler) gridQuery(r *http.Request, query string) (inspect.FleetQuery, int, error) {
	person, known := h.person(r)
	if !known {
		return inspect.FleetQuery{}, 0, errWho
	}
	params, err := checked(query, gridParams)
	if err != nil {
		return inspect.FleetQuery{}, 0, err
	}
	width, _ := strconv.Atoi(params.Get("width")) // it was checked
	if width == 0 {
		width = wideGrid
	}
	return fleetQuery(params, person), width, nil
}

// gridImage draws a cell for each zone, in the order of the list.
func (h *handler) gridImage(w http.ResponseWriter, r *http.Request) {
	query, width, err := h.gridQuery(r, r.URL.RawQuery)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_, _ = w.Write(drawGrid(h.Data.Grid(query).Outcomes, width))
}

// gridPlace leads to the zone at a place in the picture; to the list where there is none, as
// for whoever follows the link with a key.
func (h *handler) gridPlace(w http.ResponseWriter, r *http.Request) {
	filter, place := "", r.URL.RawQuery
	if i := strings.LastIndexByte(place, '?'); i >= 0 {
		filter, place = place[:i], place[i+1:]
	}
	query, width, err := h.gridQuery(r, filter)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	grid := h.Data.Grid(query)
	list, _ := url.ParseQuery(filter) // it was checked
	list.Del("width")
	to := address("/zones", list)
	if scope, ok := zoneAt(grid, width, place); ok {
		to = zonePath(scope)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func zoneAt(grid inspect.Grid, width int, place string) (edge.Scope, bool) {
	first, second, _ := strings.Cut(place, ",")
	x, errX := strconv.Atoi(first)
	y, errY := strconv.Atoi(second)
	if errX != nil || errY != nil || x == 0 && y == 0 {
		return edge.Scope{}, false
	}
	i, ok := layoutOf(len(grid.Scopes), width).at(x, y, len(grid.Scopes))
	if !ok {
		return edge.Scope{}, false
	}
	return grid.Scopes[i], true
}

func zonePath(scope edge.Scope) string { return "/zones/" + url.PathEscape(scope.Text()) }

// drawGrid draws outcomes as an SVG: a path for each outcome, and in it a line for each run of
// cells in a row. It has no style and no script, and its texts are Seawall's own.
func drawGrid(outcomes []inspect.Outcome, width int) []byte {
	l := layoutOf(len(outcomes), width)
	paths := map[inspect.Outcome]*pen{}
	for i := 0; i < len(outcomes); {
		end := min(len(outcomes), (i/l.columns+1)*l.columns) // of the row
		run := i + 1
		for run < end && outcomes[run] == outcomes[i] {
			run++
		}
		p := paths[outcomes[i]]
		if p == nil {
			p = &pen{text: []byte("M0 .5")}
			paths[outcomes[i]] = p
		}
		p.line(i%l.columns, i/l.columns, run-i)
		i = run
	}
	size := 0
	for _, p := range paths {
		size += len(p.text) + 200
	}
	b := make([]byte, 0, size+1000)
	b = fmt.Appendf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img"><title>Zones by outcome</title><desc>%s</desc><g fill="none">`,
		l.columns*l.cell, l.rows*l.cell, l.columns, l.rows, described(outcomes))
	for _, o := range inspect.Outcomes() {
		if p := paths[o]; p != nil {
			m := markOf(o)
			b = fmt.Appendf(b, `<path stroke="%s" stroke-width="%s" stroke-dasharray="%s" stroke-dashoffset="%s" stroke-linecap="%s" d="`, m.Colour, m.Width, m.Dash, m.Offset, m.Cap)
			b = append(append(b, p.text...), `"/>`...)
		}
	}
	return append(b, `</g></svg>`...)
}

// pen is a path, and where it has come to.
type pen struct {
	text []byte
	x, y int
}

func (p *pen) line(x, y, length int) {
	p.text = strconv.AppendInt(append(p.text, 'm'), int64(x-p.x), 10)
	p.text = strconv.AppendInt(append(p.text, ' '), int64(y-p.y), 10)
	p.text = strconv.AppendInt(append(p.text, 'h'), int64(length), 10)
	p.x, p.y = x+length, y
}

// described says how many zones have which outcome, the most severe first.
func described(outcomes []inspect.Outcome) string {
	counts := map[inspect.Outcome]int{}
	for _, o := range outcomes {
		counts[o]++
	}
	return countsText(len(outcomes), counts)
}

func countsText(zones int, counts map[inspect.Outcome]int) string {
	text := inspect.Count(zones, "zone", "zones")
	join := ": "
	for _, o := range severeFirst() {
		if n := counts[o]; n > 0 {
			text += fmt.Sprintf("%s%d %s", join, n, inspect.Words(o))
			join = ", "
		}
	}
	return text
}
