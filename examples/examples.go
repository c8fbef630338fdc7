// Package examples holds the example repositories, for the demo and for tests,
// and the starter that `seawall init` writes.
package examples

import (
	"embed"
	"fmt"
)

// Files are the example repositories, by folder.
//
//go:embed all:single-zone all:fleet all:monorepo all:tokens all:integrations
var Files embed.FS

// File is one file of the starter; its name is slash-separated.
type File struct {
	Name    string
	Content []byte
}

// Starter returns the files of a new repository of the given CUE module. The
// schema is not among them.
func Starter(module string) []File {
	return []File{
		{"cue.mod/module.cue", fmt.Appendf(nil, "module: %q\nlanguage: version: \"v0.16.0\"\n", module)},
		{"edge.cue", fmt.Appendf(nil, starter, module)},
		{".gitattributes", []byte("*.cue text eol=lf\n")},
	}
}

const starter = `package edge

// For editors only: completion, and most mistakes as you type. What counts is
// "seawall validate".
import "%s/seawall"

seawall.#Desired

// Ids are needed where the platform cannot list accounts and zones. With
//
//	platform: preset: "cloudflare"
//
// in the configuration, Seawall finds an account by its name (name: "Production", or the
// key) and a zone by its key: then leave the ids out.
account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	// The managed ruleset to tune, by the name the platform gives it.
	ruleset: core: name: "Core Ruleset"

	zone: "shop.example": {
		id: "00000000000000000000000000000a01"
		waf: core: {
			paranoia: 2
			threshold: {score: 40, action: "managed_challenge"}
			// What to do with overrides that are live and not declared here:
			// "keep" them or "remove" them. Without a decision they stay, and
			// the plan names them.
			// unmanaged: "keep"
		}
	}
}
`
