// Package schema holds what Seawall asks of CUE: the CUE package "seawall" with
// the shapes of desired state (#Desired) and of the daemon's configuration
// (#Config), as text.
//
// The text has three users. desired/compile unifies every folder of a
// repository with #Desired, which [Definition] builds. [LoadConfig] does the same with a
// configuration file and #Config. And [Export] hands it to a repository, where
// editors complete from it and people import its helpers.
//
// What CUE cannot say stands in desired/compile/constraints.go for desired
// state and in constraints.go here for the configuration, each with its reason.
package schema

import (
	"embed"
	"fmt"
	"io/fs"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/parser"
)

//go:embed *.cue
var files embed.FS

// calendarFile holds the calendar's data: nothing that is checked needs it, and
// reading it would cost every folder its time.
const calendarFile = "calendar.cue"

// Export returns the files of the package by name, to be written into a folder
// "seawall" of a repository's own CUE module. The package needs nothing but
// CUE's standard library, and declares nothing: a folder that holds it is a
// valid, empty part of the desired state. The calendar's data is not part of it.
func Export() map[string][]byte {
	out := map[string][]byte{}
	names, _ := fs.Glob(files, "*.cue") // the pattern is well formed
	for _, name := range names {
		if name == calendarFile {
			continue
		}
		data, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Errorf("reading embedded schema: %w", err))
		}
		out[name] = data
	}
	return out
}

// Root is the folder the schema's files seem to lie in. Names of a
// repository's files are relative, so a position tells the two apart.
const Root = "/seawall/"

var desiredParts = []string{"desired.cue", "exceptions.cue", "rules.cue", "tests.cue", "tokens.cue", "resources.cue", "deprecations.cue", "words.cue"}

// parts are the files that each definition needs. CUE evaluates all that a package
// declares, so that a folder would pay for the configuration too.
var parts = map[string][]string{
	"#Desired":   desiredParts,
	"#Request":   desiredParts,
	"#Config":    {"config.cue", "web.cue", "accounts.cue", "guards.cue", "words.cue"},
	"#Published": {calendarFile, "deprecations.cue", "words.cue"},
}

// Altered has the text of a file in the place of the embedded one, in tests of kinds that there
// are not. Nil alters none.
var Altered func(name string, text []byte) []byte

// Definition compiles #Desired, #Request, #Config or #Published in ctx, with what it needs of the
// package. Its files are named below [Root].
func Definition(ctx *cue.Context, name string) (cue.Value, error) {
	inst := build.NewContext().NewInstance(Root, nil)
	for _, part := range parts[name] {
		data, err := files.ReadFile(part)
		if err != nil {
			return cue.Value{}, fmt.Errorf("reading embedded schema: %w", err)
		}
		if Altered != nil {
			data = Altered(part, data)
		}
		file, err := parser.ParseFile(Root+part, data)
		if err == nil {
			err = inst.AddSyntax(file)
		}
		if err != nil {
			return cue.Value{}, fmt.Errorf("parsing schema: %w", err)
		}
	}
	if err := inst.Complete(); err != nil {
		return cue.Value{}, fmt.Errorf("completing schema: %w", err)
	}
	v := ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return cue.Value{}, fmt.Errorf("building schema: %w", err)
	}
	return v.LookupPath(cue.ParsePath(name)), nil
}
