// Package page tests the pages of a daemon and /api/v1. Some tests run the program and ask it.
// The others open its pages in Chromium: how they look, who can use them, what they load, and
// that they follow what changes. Most of those serve the pages of a fleet that is made up
// (reconcile/page/pagetest).
package page

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seawall-dev/seawall/integration/harness"
)

func TestMain(m *testing.M) {
	harness.AtOnce = min(harness.AtOnce, 5) // which have the browser take all processors
	code := harness.Main(m, nil)
	if quit != nil {
		quit()
	}
	os.Exit(code)
}

// quit ends the browser; nil while there is none.
var quit func()

// chromium is the browser that all tests share, each with tabs, cookies and a cache of its
// own: starting one takes a second. The path is empty where none is installed.
var chromium = sync.OnceValues(func() (ctx context.Context, err error) {
	path := installed()
	if path == "" {
		return nil, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1280, 900),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-lcd-text", true), chromedp.Flag("font-render-hinting", "none"),
		// Each page that is opened would have a process of its own, and another one be ready.
		chromedp.Flag("disable-features", "Translate,BackForwardCache,ProactivelySwapBrowsingInstance,SpareRendererForSitePerProcess"))
	if os.Geteuid() == 0 { // Chromium's sandbox is for other users
		options = append(options, chromedp.NoSandbox)
	}
	started, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(started)
	quit = end
	return ctx, chromedp.Do(ctx)
})

// installed is the path of Chromium, or of a browser that is one; empty for none.
func installed() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
