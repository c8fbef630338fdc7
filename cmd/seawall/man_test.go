package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/integration/must"
)

var manFolder = flag.String("man", "", "folder to write the pages of the manual to; .ci/release sets it")

// TestManPages writes a page of the manual for each command. They are made here, and not by
// the program, so that it need not carry the library for them.
func TestManPages(t *testing.T) {
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64) // without it: the beginning of time
	date := time.Unix(seconds, 0).UTC()
	root := newRoot(&cli.Terminal{Out: io.Discard, Err: io.Discard})
	root.DisableAutoGenTag = true
	must.Do(t, doc.GenManTree(root, &doc.GenManHeader{Source: "Seawall", Manual: "Seawall", Date: &date}, folder))
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "seawall-hold-zone.1"))
	if err != nil || !strings.Contains(string(text), "seawall hold zone shop.example") {
		t.Errorf("the page of seawall hold zone has no example: %v\n%s", err, text)
	}
}
