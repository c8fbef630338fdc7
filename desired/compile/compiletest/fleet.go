package compiletest

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// Fleet returns a tree of zones spread evenly over folders, each with a
// paranoia level, a threshold and a disabled tag of its own. The account and
// its ruleset are in the root.
func Fleet(zones, folders int) fstest.MapFS {
	fsys := fstest.MapFS{
		"cue.mod/module.cue": file("module: \"example.com/fleet@v0\"\nlanguage: version: \"v0.16.0\"\n"),
		"base.cue":           file("package fleet\n\naccount: prod: {\n\tid: \"0123456789abcdef0123456789abcdef\"\n\truleset: core: name: \"Core Ruleset\"\n}\n"),
	}
	for f := range folders {
		var b strings.Builder
		b.WriteString("package fleet\n\naccount: prod: zone: {\n")
		for z := f * zones / folders; z < (f+1)*zones/folders; z++ {
			fmt.Fprintf(&b, "\t\"zone%06d.example\": {\n\t\tid: \"%032x\"\n\t\twaf: core: {\n\t\t\tparanoia: %d\n\t\t\tthreshold: {score: %d, action: \"block\"}\n\t\t\tdisable: tags: [\"wordpress\"]\n\t\t}\n\t}\n", z, z+1, z%4+1, 25+z%40)
		}
		b.WriteString("}\n")
		fsys[fmt.Sprintf("team%04d/zones.cue", f)] = file(b.String())
	}
	return fsys
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
