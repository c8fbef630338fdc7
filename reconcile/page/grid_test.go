package page_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// picture is a drawn fleet.
type picture struct {
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Box    string `xml:"viewBox,attr"`
	Desc   string `xml:"desc"`
	Paths  []struct {
		Colour string `xml:"stroke,attr"`
		D      string `xml:"d,attr"`
	} `xml:"g>path"`
}

// cells are the cells that a picture has drawn, and how many times.
func (p picture) cells(t *testing.T) (columns int, drawn map[int]int) {
	drawn = map[int]int{}
	_, err := fmt.Sscanf(p.Box, "0 0 %d", &columns)
	must.Do(t, err)
	for _, path := range p.Paths {
		x, y := 0, 0
		for _, move := range strings.Split(strings.TrimPrefix(path.D, "M0 .5"), "m")[1:] {
			var dx, dy, length int
			_, err := fmt.Sscanf(move, "%d %dh%d", &dx, &dy, &length)
			must.Do(t, err)
			x, y = x+dx, y+dy
			for range length {
				drawn[y*columns+x]++
				x++
			}
		}
	}
	return columns, drawn
}

// Each zone is one cell, and a click into its middle opens it.
func TestGridHasEachZoneOnce(t *testing.T) {
	for _, zones := range []int{1, 7, 300, 2000} {
		d := pagetest.New(zones)
		h := handlerOf(d)
		for _, filter := range []string{"", "account=prod&", "outcome=refused&outcome=in_sync&"} {
			for _, width := range []string{"320", "960"} {
				query := filter + "width=" + width
				var p picture
				must.Do(t, xml.Unmarshal(ask(h, "/grid.svg?"+query, nil).Body.Bytes(), &p))
				columns, drawn := p.cells(t)
				grid := d.Grid(inspect.FleetQuery{})
				if filter != "" {
					fleet := fleetOf(t, h, filter)
					if fleet.Matches != len(drawn) {
						t.Errorf("%s: %d cells of %d zones", query, len(drawn), fleet.Matches)
					}
					continue
				}
				cell := p.Width / columns
				for i := range zones {
					if drawn[i] != 1 {
						t.Errorf("%d zones: %d is drawn %d times", zones, i, drawn[i])
					}
				}
				for i, scope := range grid.Scopes {
					if i%97 != 0 && i > 300 {
						continue
					}
					x, y := i%columns*cell+cell/2, i/columns*cell+cell/2
					w := ask(h, fmt.Sprintf("/grid?%s?%d,%d", query, x, y), nil)
					if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/zones/"+scope.Text() {
						t.Fatalf("%d zones: %d leads to %s", zones, i, w.Header().Get("Location"))
					}
				}
				if w, _ := strconv.Atoi(width); len(drawn) != zones || p.Width > w || !strings.HasPrefix(p.Desc, strconv.Itoa(zones)+" zone") {
					t.Errorf("%d zones: %d cells, %d wide: %s", zones, len(drawn), p.Width, p.Desc)
				}
			}
		}
	}
}

func TestGridOfNoPlaceIsTheList(t *testing.T) {
	h := handlerOf(pagetest.New(5))
	for _, query := range []string{"", "?width=960?0,0", "?width=960?900,3", "?width=960?-4,3", "?width=960?x,y", "?width=960?99999999999999999999,1", "?3,4000"} {
		if w := ask(h, "/grid"+query, nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/zones" {
			t.Errorf("%s: %d %s", query, w.Code, w.Header().Get("Location"))
		}
	}
	if w := ask(h, "/grid?width=960&outcome=refused?0,0", nil); w.Header().Get("Location") != "/zones?outcome=refused" {
		t.Errorf("the list has another filter: %s", w.Header().Get("Location"))
	}
	for _, query := range []string{"width=1", "width=x", "outcome=none", "cells=3"} {
		if w := ask(h, "/grid.svg?"+query, nil); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}

// alternating is a fleet in which no two neighbours are alike.
type alternating struct{ page.Data }

func (a alternating) Grid(inspect.FleetQuery) inspect.Grid {
	all := inspect.Outcomes()
	g := inspect.Grid{}
	for i := range 10000 {
		g.Outcomes = append(g.Outcomes, all[(i*i+i/7)%len(all)])
		g.Scopes = append(g.Scopes, edge.ZoneScope("z"))
	}
	return g
}

func TestPagesAreSmall(t *testing.T) {
	h := handlerOf(alternating{pagetest.New(10000)})
	for _, path := range []string{"/", "/zones", "/zones?outcome=refused", "/history", "/commits", "/tokens", "/grid.svg", "/grid.svg?width=320", "/api/v1/zones", "/api/v1/history"} {
		w := ask(h, path, nil)
		if size := zipped(t, w.Body.Bytes()); w.Code != http.StatusOK || size > 100<<10 {
			t.Errorf("%s: %d, %d bytes compressed", path, w.Code, size)
		}
	}
}
