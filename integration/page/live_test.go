package page

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// notCurrent is what a page says that may be out of date.
const notCurrent = "not up to date"

// reads reports, in JavaScript, whether a person reads a text on the page.
func reads(text string) string {
	return fmt.Sprintf("document.body.innerText.toLowerCase().includes(%q)", strings.ToLower(text))
}

// zoneLink is the link to a zone in the list.
func zoneLink(number int) string {
	return fmt.Sprintf(`document.querySelector('main a[href="/zones/%s"]')`, pagetest.Scope(number).Text())
}

// A page follows what changes, and leaves whoever reads it where they are: what they type and
// have scrolled to stays.
func TestPageFollowsChanges(t *testing.T) {
	t.Parallel()
	data := pagetest.New(40)
	b := open(t, serve(t, data), look{})
	b.visit("/zones")
	outcome := fmt.Sprintf("%s.closest('tr').innerText", zoneLink(20))
	before := eval[string](b, outcome)
	eval[any](b, zoneLink(31)+".focus({preventScroll: true}); window.scrollTo(0, 700); 0")
	if eval[int](b, "Math.round(scrollY)") == 0 {
		t.Fatal("the page is too short to be scrolled")
	}
	place := zoneLink(31) + ".getBoundingClientRect().top"
	seen := eval[float64](b, place)
	data.SetOutcome(pagetest.Scope(20), inspect.NonConvergent)
	b.waitFor("the list has the new outcome", func() bool { return eval[string](b, outcome) != before })
	if !eval[bool](b, zoneLink(31)+" === document.activeElement") {
		t.Errorf("the focus has gone to %s", eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
	}
	// A row above may have become higher: the browser scrolls by as much, with the next frame.
	b.waitFor("what was in sight is where it was", func() bool { return math.Abs(eval[float64](b, place)-seen) < 1 })

	eval[any](b, `document.querySelector("main input[name=text]").focus(); 0`)
	b.press("s", "h", "o")
	data.SetOutcome(pagetest.Scope(20), inspect.Blocked)
	time.Sleep(3 * time.Second) // a page that no one writes on asks again within two
	b.press("p")
	if got := eval[string](b, "document.activeElement.value"); got != "shop" {
		t.Errorf("the filter has %q after the page was replaced while someone typed", got)
	}
	b.press(kb.Enter)
	b.waitFor("the list is filtered", func() bool { return strings.Contains(eval[string](b, "location.search"), "text=shop") })
}

// The button pauses what would change under the eyes of a reader.
func TestPageCanBePaused(t *testing.T) {
	t.Parallel()
	data := pagetest.New(50)
	b := open(t, serve(t, data), look{})
	b.visit("/zones")
	row := fmt.Sprintf("%s.closest('tr').innerText", zoneLink(20))
	before := eval[string](b, row)
	b.click(pauseButton)
	data.SetOutcome(pagetest.Scope(20), inspect.NonConvergent)
	time.Sleep(3 * time.Second) // a page that is not paused asks again within two
	if now := eval[string](b, row); now != before {
		t.Errorf("paused, and %q became %q", before, now)
	}
	b.click(pauseButton)
	b.waitFor("the list goes on", func() bool { return eval[string](b, row) != before })
}

// pauseButton is the only button of the script.
const pauseButton = "#pause"

// A page whose daemon is gone says so, until it is back.
func TestPageThatIsCutOffSaysSo(t *testing.T) {
	t.Parallel()
	var gone atomic.Bool
	pages := handlerOf(pagetest.New(50), nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b := open(t, server.URL, look{})
	b.visit("/")
	if eval[bool](b, reads(notCurrent)) {
		t.Error("a page that has just been opened says that it is not up to date")
	}
	gone.Store(true)
	server.CloseClientConnections()
	b.until(reads(notCurrent))
	b.accessible("a page that is cut off")
	gone.Store(false)
	b.until("!" + reads(notCurrent))
	b.expect("net::ERR")
}

// While a form is sent, its page reads nothing: what the form has changed is in the answer, and a change that
// is being approved waits no more. Whoever comes back to the page sees what is new.
func TestPageStaysWhileAFormIsSent(t *testing.T) {
	t.Parallel()
	data := pagetest.New(50)
	b := open(t, serve(t, data), look{})
	b.visit("/")
	eval[any](b, `document.querySelector("main").insertAdjacentHTML("afterbegin", '<form id="sent" method="post"><button>Send</button></form>');
		document.getElementById("sent").addEventListener("submit", (e) => e.preventDefault()); 0`) // the answer does not come
	b.click("#sent button")
	data.SetOutcome(pagetest.Scope(20), inspect.NonConvergent)
	const there = `document.getElementById("sent") !== null`
	b.until(reads("not updated while a form") + " || !(" + there + ")")
	if !eval[bool](b, there) {
		t.Error("the page was read again while its form was sent")
	}
	eval[any](b, `window.dispatchEvent(new Event("pageshow")); 0`)
	b.until("!(" + there + ")")
}

// Whoever has only a keyboard comes past the navigation, to the filter and to each zone.
func TestKeyboardReachesAll(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, pagetest.New(20)), look{})
	b.visit("/zones")
	b.press(kb.Tab)
	if text := eval[string](b, "document.activeElement.innerText"); !strings.Contains(strings.ToLower(text), "skip") {
		t.Errorf("the first stop is %q", text)
	}
	b.press(kb.Enter)
	var filter, zones int
	for range 200 {
		b.press(kb.Tab)
		at := eval[string](b, `(e => e.name || e.getAttribute("href") || "")(document.activeElement)`)
		if !eval[bool](b, `document.activeElement === document.body || document.activeElement.matches(":focus-visible") && getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
			t.Errorf("nothing shows that the focus is on %q", at)
		}
		if at == "text" && zones == 0 {
			filter++
		}
		if strings.HasPrefix(at, "/zones/") {
			zones++
		}
		if eval[bool](b, "document.activeElement === document.body") {
			break
		}
	}
	if filter != 1 || zones < 20 {
		t.Errorf("the filter was reached %d times before the list, and %d zones", filter, zones)
	}
}
