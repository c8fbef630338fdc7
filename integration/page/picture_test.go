package page

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

var update = flag.Bool("update", false, "take the pictures in docs/images again")

// pictures are the pages of which docs/images has pictures, in light and dark.
var pictures = []named{
	{"overview", "/"},
	{"zones", "/zones?outcome=refused&outcome=unknown&outcome=pending"},
	{"zone", "/zones/" + pagetest.Scope(0).Text()},
	{"commits", "/commits"},
	{"tokens", "/tokens"},
	{"radar", "/radar"},
	{"deprecations", "/deprecations"},
}

// mostChanged is which share of the blocks of a picture may look different: fonts, and what
// a version of Chromium makes of them, differ from machine to machine.
const mostChanged = 0.08

// TestPagesLookAsBefore compares pages with their pictures.
func TestPagesLookAsBefore(t *testing.T) {
	t.Parallel()
	origin := serve(t, pagetest.New(1_000))
	b := open(t, origin, look{})
	for _, p := range pictures {
		b.visit(p.path)
		b.until(`document.getElementById("live").textContent === "Live"`)
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme == "dark")
			file := filepath.Join(harness.Root, "docs", "images", fmt.Sprintf("page-%s-%s.png", p.name, scheme))
			now := b.picture()
			if *update {
				keep(t, file, now)
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if share := changed(before, now); share > mostChanged {
				t.Errorf("%.0f%% of %s looks different; if that is as it should be: go test ./integration/page -run TestPagesLookAsBefore -update\nit looks so: %s",
					100*share, file, kept(t, p.name+"-"+scheme, now))
			}
		}
	}
}

// A layout that breaks is found, whatever the fonts of a machine.
func TestBrokenLayoutIsSeen(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, pagetest.New(1_000)), look{})
	for _, p := range pictures[:2] {
		b.visit(p.path)
		before := b.picture()
		for what, script := range map[string]string{
			"no style at all":       `document.querySelector("link[rel=stylesheet]").disabled = true`,
			"the other scheme":      ``,
			"the main part is away": `document.querySelector("main").remove()`,
		} {
			b.visit(p.path)
			if script == "" {
				b.scheme(true)
			} else {
				eval[any](b, script+"; 0")
			}
			if share := changed(before, b.picture()); share <= mostChanged {
				t.Errorf("%s, %s: only %.1f%% looks different", p.name, what, 100*share)
			}
			b.scheme(false)
			b.expect("an exception") // of the script, which misses the main part
		}
		// Another font moves each letter, and no more.
		b.visit(p.path)
		eval[any](b, `document.documentElement.style.fontFamily = "serif"; 0`)
		if share := changed(before, b.picture()); share > mostChanged {
			t.Errorf("%s, another font: %.1f%% looks different", p.name, 100*share)
		}
	}
}

// picture is what the window shows, once the pictures in it are there: they load when they are
// seen.
func (b *tab) picture() image.Image {
	b.Helper()
	b.until(`[...document.images].every(i => i.complete || i.getClientRects().length === 0 || i.getBoundingClientRect().top > innerHeight)`)
	eval[any](b, `Promise.all(document.getAnimations().map(a => a.finished)).then(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))))`)
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	return picture
}

const (
	block    = 20 // pixels: about a line of text, and a few letters
	visible  = 24 // how far the mean colours of a block are from each other, of 255, for people to see it
	channels = 3
)

// changed is the share of blocks of two pictures that look different.
func changed(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	differ, all := 0, 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y += block {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x += block {
			all++
			one, other := mean(a, x, y), mean(b, x, y)
			for c := range channels {
				if one[c]-other[c] > visible || other[c]-one[c] > visible {
					differ++
					break
				}
			}
		}
	}
	return float64(differ) / float64(all)
}

// mean is the mean colour of a block.
func mean(of image.Image, left, top int) (sum [channels]int) {
	pixels := of.(image.RGBA64Image) //nolint:forcetypeassert // each image of the standard library is one
	area := image.Rect(left, top, left+block, top+block).Intersect(of.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			at := pixels.RGBA64At(x, y)
			for c, value := range [channels]uint16{at.R, at.G, at.B} {
				sum[c] += int(value >> 8)
			}
		}
	}
	for c := range sum {
		sum[c] /= area.Dx() * area.Dy()
	}
	return sum
}

// keep writes a picture with 256 colours: a page has few, and the edges of letters.
func keep(t *testing.T, file string, picture image.Image) {
	t.Helper()
	bounds := picture.Bounds()
	counts := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) } //nolint:forcetypeassert // it is one
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	colours := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int { return counts[b] - counts[a] })
	palette := paletteOf(colours)
	small := image.NewPaletted(bounds, palette)
	nearest := map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			index, ok := nearest[c]
			if !ok {
				index = uint8(palette.Index(c)) //nolint:gosec // of 256
				nearest[c] = index
			}
			small.SetColorIndex(x, y, index)
		}
	}
	write(t, file, small)
}

// paletteOf are the colours of a picture that stand for all, of those by how often it has
// them: each is so far from those before it that a small dot keeps its colour, too.
func paletteOf(colours []color.RGBA) (palette color.Palette) {
	for apart := 24; apart > 0 && len(palette) < min(len(colours), 256); apart /= 2 {
		for _, c := range colours {
			if len(palette) == 256 {
				break
			}
			if len(palette) == 0 || distance(c, palette[palette.Index(c)].(color.RGBA)) >= apart { //nolint:forcetypeassert // it is one
				palette = append(palette, c)
			}
		}
	}
	return palette
}

func distance(a, b color.RGBA) (sum int) {
	for _, d := range [channels]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
		sum += max(d, -d)
	}
	return sum
}

// kept writes a picture beside the tests' other files, for a person to look at.
func kept(t *testing.T, name string, picture image.Image) string {
	t.Helper()
	file := filepath.Join(os.TempDir(), "seawall-page-"+name+".png")
	write(t, file, picture)
	return file
}

func write(t *testing.T, file string, picture image.Image) {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
