package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds what would else wait for ever. It is no measurement: a machine may be slow.
const patience = 15 * time.Minute

// look is how a person looks at pages.
type look struct {
	dark     bool
	noScript bool
	headers  map[string]string
}

// tab is a tab of a browser, with what went wrong in it.
type tab struct {
	testing.TB
	ctx    context.Context
	origin string
	look   look

	mu     sync.Mutex
	faults []string
	bytes  int // received since the last visit began
}

// open opens a tab for the pages of an origin. When the test ends, nothing may have gone wrong
// in it.
func open(t testing.TB, origin string, l look) *tab {
	t.Helper()
	browser, err := chromium()
	switch {
	case err != nil:
		t.Fatal(err)
	case browser == nil:
		t.Skip("this needs Chromium, which is not installed: apt-get install chromium")
	}
	b := &tab{TB: t, origin: origin, look: l}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(func() {
		end()
		for _, fault := range b.heard() {
			t.Errorf("%+v: %s", l, fault)
		}
	})
	if err := chromedp.Do(ctx); err != nil { // a deadline of the first would end the tab
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	b.ctx = bounded
	b.prepare()
	return b
}

// prepare makes the tab what its look says.
func (b *tab) prepare() {
	b.Helper()
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	call(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}) // of several tabs each has it
	b.resize(wide)
	b.scheme(b.look.dark)
	if len(b.look.headers) > 0 {
		headers := network.Headers{}
		for name, value := range b.look.headers {
			headers[name] = value
		}
		call(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	}
}

// wide is how many pixels wide a window is, and narrow a telephone's.
const wide, narrow = 1280, 360

func (b *tab) resize(width int64) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		b.Fatal(err)
	}
}

// scheme is what the person prefers.
func (b *tab) scheme(dark bool) {
	b.Helper()
	value := map[bool]string{false: "light", true: "dark"}[dark]
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// hear takes note of what goes wrong, and of what is received.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fault := func(format string, args ...any) { b.faults = append(b.faults, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault("an exception that nothing caught: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			fault("the console has a %s: %v", e.Type, e.Args)
		}
	case *log.EventEntryAdded: // has what the content security policy forbids, too
		if e.Entry.Level != log.EntryLevelVerbose && e.Entry.Level != log.EntryLevelInfo {
			fault("the browser's log, %s %s: %s (%s)", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err != nil || at.Scheme != "data" && at.Scheme+"://"+at.Host != b.origin {
			fault("a request to another origin: %s", e.Request.URL)
		}
	case *network.EventLoadingFinished:
		b.bytes += int(e.EncodedDataLength)
	}
}

// heard returns what went wrong, and forgets it.
func (b *tab) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

// expect forgets a fault that the test has brought about.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = slices.DeleteFunc(b.faults, func(f string) bool { return strings.Contains(f, part) })
}

// visit opens a page, and returns how many bytes that took.
func (b *tab) visit(path string) int {
	b.Helper()
	b.mu.Lock()
	b.bytes = 0
	b.mu.Unlock()
	b.scripts(!b.look.noScript)
	if err := chromedp.Do(b.ctx, chromedp.Navigate(b.origin+path)); err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	b.scripts(true) // those of the test; the page's own were left out when it was loaded
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

func (b *tab) scripts(run bool) {
	b.Helper()
	if b.look.noScript {
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
	}
}

// eval is the value of an expression in JavaScript.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", short(expression), err)
	}
	return v
}

// until waits until an expression in JavaScript is true.
func (b *tab) until(expression string) {
	b.Helper()
	b.waitFor(expression, func() bool {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && is // else another page is just being opened
	})
}

func (b *tab) waitFor(what string, done func() bool) {
	b.Helper()
	for !done() {
		select {
		case <-b.ctx.Done():
			b.Fatalf("it never came true: %s\nthe page:\n%s", what, b.text())
		case <-time.After(100 * time.Millisecond): // each look has the browser lay the page out
		}
	}
}

// text is what a person reads on the page.
func (b *tab) text() string {
	text, err := chromedp.Run(context.WithoutCancel(b.ctx), chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.Helper()
	for _, key := range keys {
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(key)); err != nil {
			b.Fatal(err)
		}
	}
}

// click clicks on an element.
func (b *tab) click(selector string) {
	b.Helper()
	b.act(selector, chromedp.Click(chromedp.CSS(selector)))
}

// act does something to an element. One that an update of the page has just replaced is looked
// for again: nothing was done to it.
func (b *tab) act(selector string, action chromedp.Action[chromedp.Void]) {
	b.Helper()
	err := chromedp.Do(b.ctx, action)
	for err != nil && strings.Contains(err.Error(), "Could not find node with given id") {
		err = chromedp.Do(b.ctx, action)
	}
	if err != nil {
		b.Fatalf("%s: %v\nthe page:\n%s", selector, err, b.text())
	}
}

// call sends a command to the tab.
func call[P any](b *tab, command cdp.Command[P, cdp.Empty], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.Fatal(err)
	}
}

func short(text string) string { return text[:min(len(text), 200)] }
