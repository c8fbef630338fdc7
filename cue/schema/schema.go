// Package schema holds what Seawall asks of CUE: the CUE package "seawall" with
// the shapes of desired state (#Desired) and of the daemon's configuration
// (#Config), as text.
//
// The text has three users. desired/compile builds it with [Build] and unifies
// every folder of a repository with #Desired. [LoadConfig] does the same with a
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

// Version changes with every change of the schema that refuses what it took
// before, or takes what it refused.
const Version = "1"

//go:embed *.cue
var files embed.FS

// Desired is the text of the file that defines #Desired.
//
//go:embed desired.cue
var Desired string

// Files returns the CUE files of the package, at the root.
func Files() fs.FS { return files }

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

// Build compiles the package in ctx. Its files are named below [Root].
func Build(ctx *cue.Context) (cue.Value, error) { return built(ctx, Export()) }

func built(ctx *cue.Context, files map[string][]byte) (cue.Value, error) {
	inst := build.NewContext().NewInstance(Root, nil)
	for name, data := range files {
		file, err := parser.ParseFile(Root+name, data)
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
	return v, nil
}
