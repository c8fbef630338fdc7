package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

func nowOf() time.Time { return pagetest.At }

func zipped(t *testing.T, text []byte) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	must.Do(t, err)
	must.Do(t, w.Close())
	return b.Len()
}

func fleetOf(t *testing.T, h http.Handler, query string) (f inspect.Fleet) {
	must.Do(t, json.Unmarshal(ask(h, "/api/v1/zones?"+query, nil).Body.Bytes(), &f))
	return f
}

// BenchmarkList is a filtered list, as a page and as JSON, of which 200 zones are shown, and what stands beside it.
func BenchmarkList(b *testing.B) {
	for _, zones := range []int{1000, 10000} {
		h := handlerOf(pagetest.New(zones))
		for _, path := range []string{"/zones?label=tier%3Dgold&text=o", "/api/v1/zones?label=tier%3Dgold&text=o", "/api/v1/zones/" + pagetest.Scope(3).Text(), "/grid.svg", "/"} {
			b.Run(fmt.Sprintf("%d%s", zones, path), func(b *testing.B) {
				for b.Loop() {
					if w := ask(h, path, nil); w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
				}
			})
		}
	}
}
