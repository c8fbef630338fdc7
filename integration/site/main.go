// Command site makes the documentation a folder of web pages that need no server:
//
//	go run ./integration/site -out dist/site
//
// Its table of contents is [contents]; the pages are the Markdown files of the repository,
// and "What happens when", which is made of docs/reliability.md.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "top of the repository")
	out := flag.String("out", "dist/site", "folder to write to")
	flag.Parse()
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
