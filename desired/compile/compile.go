// Package compile turns a tree of CUE files into a [desired.State].
//
// The unit of evaluation is the folder. [Folders] lists those of a tree,
// [Compiler.Folder] evaluates one, and [Merge] makes a state of all of them:
//
//	dirs, err := compile.Folders(tree, ".")
//	for _, dir := range dirs {
//		units = append(units, new(compile.Compiler).Folder(tree, dir))
//	}
//	state, problems := compile.Merge(units, commit)
//
// A [Unit] says nothing of the commit, which Merge adds, so that it can be kept for others.
// It is plain data, so that the evaluation, which CUE can neither cancel
// nor bound, may happen in another process. [Tree] does all of it in this one,
// for tests and for trees one trusts.
//
// A folder sees the files of its package in the folders above it, up to the
// one that holds cue.mod, as CUE has it. Seawall unifies the result with the
// closed schema of cue/schema in Go: a file that says nothing of the schema is
// checked all the same. Nothing is read but the given tree: imports from a
// registry, vendored packages and embedded files are refused.
//
// Values are read from the unified value and their origins from the file's own
// one, because unification moves positions into the schema.
package compile

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// Unit is what one folder declares, and what is wrong with it. Package compact
// encodes it.
type Unit struct {
	Dir      string // slash-separated, relative to the tree; "." is the tree itself
	Accounts []desired.Account
	Tokens   []desired.Token
	User     *desired.Declared[string]

	Integrations []desired.Integration
	Calendar     []desired.CalendarEntry
	Tests        []DeclaredTest

	Named    []NamedUser // the users its policies name
	Problems []desired.Problem

	// Looked are the folders whose files had a say in all this, those that were
	// looked for and are not there too; sorted. As long as their [Prints] stay, and
	// the program does, so does the unit. It is nil when the unit must not be kept
	// because something could not be read.
	Looked []string
}

// DeclaredTest is a test of rules. Ran says that the folder has its zone; only there it can be run.
type DeclaredTest struct {
	Name   string
	Origin desired.Origin
	Zone   string // its key
	Value  string // as JSON
	Ran    bool
}

// NamedUser is a user that a policy names, and the policy's resource that does.
type NamedUser struct {
	Tag    string
	Path   string
	Origin desired.Origin
}

// Compiler evaluates one folder of a tree after the other. It builds the schema once for
// some of them: for a folder of a few zones that takes longer than all else. The zero value is
// ready. It is not safe for concurrent use, and not for trees that trust each other less than
// themselves.
type Compiler struct {
	ctx      *cue.Context // nil: the next folder gets a new one
	desired  cue.Value    // #Desired in ctx
	declared int          // zones, tokens and folders that were evaluated in ctx
}

// inOneContext is after how many zones, tokens and folders a new context begins: one keeps all
// that was evaluated in it.
const inOneContext = 400

// Folder evaluates one folder of fsys. What is wrong is in the unit's
// Problems; a unit with errors declares nothing.
//
// It does not return before CUE is done, and some inputs take CUE for ever or
// overflow its stack: for a tree that is not trusted, call it in a process
// that can be killed.
func (c *Compiler) Folder(fsys fs.FS, dir string) (unit Unit) {
	dir = path.Clean(dir)
	unit = Unit{Dir: dir}
	seen := newView(fsys)
	defer func() {
		unit.Looked = seen.folders()
		if r := recover(); r != nil {
			*c = Compiler{}
			unit.Looked = nil
			unit.fail(desired.Problem{
				Origin:  desired.Origin{File: dir},
				Message: fmt.Sprintf("evaluating the folder failed inside CUE: %.100s", fmt.Sprint(r)),
				Hint:    "undo the last change in this folder, or run cue vet on it",
			})
		}
	}()
	c.evaluate(&unit, seen)
	if c.declared >= inOneContext || len(desired.Errors(unit.Problems)) > 0 {
		*c = Compiler{}
	}
	return unit
}

func (c *Compiler) evaluate(u *Unit, fsys fs.FS) {
	if c.ctx == nil {
		ctx := cuecontext.New()
		def, err := schema.Definition(ctx, "#Desired")
		if err != nil {
			u.fail(desired.Problem{Message: fmt.Sprintf("building the schema: %v", err)})
			return
		}
		c.ctx, c.desired = ctx, def
	}
	plain, files, problems := loaded(c.ctx, fsys, u.Dir)
	if len(problems) > 0 {
		u.fail(problems...)
		return
	}
	unified, problems := explain.Check(plain, c.desired, files)
	if len(problems) > 0 {
		u.fail(withModuleHint(fsys, u.Dir, problems)...)
		return
	}
	r := reader{unit: u}
	c.declared += 1 + r.read(both{unified, plain})
	if len(desired.Errors(u.Problems)) > 0 {
		u.fail()
	}
}

// withModuleHint tells people whose folder inherits nothing from the CUE files
// above it why: CUE looks there only inside a module.
func withModuleHint(fsys fs.FS, dir string, problems []desired.Problem) []desired.Problem {
	filesAbove := false
	for at := dir; ; at = path.Dir(at) {
		if _, err := fs.Stat(fsys, path.Join(at, "cue.mod", "module.cue")); err == nil {
			return problems
		}
		if at != dir {
			files, _ := fs.Glob(fsys, path.Join(at, "*.cue")) // the pattern is sound
			filesAbove = filesAbove || len(files) > 0
		}
		if at == "." {
			break
		}
	}
	for i := range problems {
		missing := problems[i].Message == explain.Missing && problems[i].Hint == ""
		undeclared := explain.Unresolved(problems[i]) && !strings.HasPrefix(problems[i].Hint, "did you mean")
		if filesAbove && (missing || undeclared) {
			problems[i].Hint = "folders inherit from parent folders only in a CUE module: add cue.mod/module.cue, which seawall init creates"
		}
	}
	return problems
}

// fail adds problems and takes back what the unit declares.
func (u *Unit) fail(problems ...desired.Problem) {
	u.Accounts, u.Tokens, u.User, u.Named = nil, nil, nil, nil
	u.Integrations, u.Calendar, u.Tests = nil, nil, nil
	for i := range problems {
		if problems[i].Origin.IsZero() {
			problems[i].Origin.File = u.Dir
		}
	}
	u.Problems = append(u.Problems, problems...)
}
