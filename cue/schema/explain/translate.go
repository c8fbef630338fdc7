package explain

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"

	"github.com/seawall-dev/seawall/desired"
)

// Raw returns CUE's errors about files as problems: what does not parse, load
// or build, where there is no value to walk yet.
func Raw(err error, own string) []desired.Problem {
	if err == nil {
		return nil
	}
	e := &explainer{places: places{own: own}}
	problems := e.translate(err)
	for i := range problems {
		problems[i].Path = "" // of a package, not of a field
	}
	return capped(problems)
}

// translate tells CUE's errors one per path, leaving out the lines that only
// introduce others.
func (e *explainer) translate(err error) []desired.Problem {
	var out []desired.Problem
	told := map[string]bool{}
	for _, one := range errors.Errors(err) {
		format, _ := one.Msg()
		path := joined(one.Path())
		if strings.Contains(format, "empty disjunction") || (path != "" && told[path]) {
			continue
		}
		told[path] = true
		out = append(out, e.raw(one, path))
	}
	return out
}

func (e *explainer) raw(err errors.Error, path string) desired.Problem {
	positions := e.places.all(err)
	p := desired.Problem{Path: path}
	if len(positions) > 0 {
		p.Origin = originOf(positions[0])
	}
	p.Message, p.Hint = rawWords(err)
	format, _ := err.Msg()
	contradicts := strings.HasPrefix(format, "conflicting values") || strings.HasPrefix(format, "invalid value") || format == "import failed"
	if contradicts && p.Hint == "" && len(positions) > 1 {
		p.Hint = seeAlso(positions[1:])
	}
	return p
}

// nearestDeclared is the place of the innermost field above path that a file
// declares.
func nearestDeclared(root cue.Value, path string) desired.Origin {
	parsed := cue.ParsePath(path)
	if parsed.Err() != nil {
		return desired.Origin{}
	}
	for selectors := parsed.Selectors(); len(selectors) > 0; selectors = selectors[:len(selectors)-1] {
		if v := root.LookupPath(cue.MakePath(selectors...)); v.Exists() {
			if o := Origin(v); !o.IsZero() {
				return o
			}
		}
	}
	return Origin(root)
}

// rawWords keeps CUE's words where they are those of the person's own file,
// and puts others where they speak of the schema's insides.
func rawWords(err errors.Error) (message, hint string) {
	format, args := err.Msg()
	switch {
	case strings.HasPrefix(format, "field not allowed"):
		return "unknown field", ""
	case strings.HasPrefix(format, "incomplete value"):
		return "has no value yet", "give it a concrete value"
	case strings.HasPrefix(format, "invalid value") && len(args) >= 2:
		words, hint := bound(fmt.Sprint(args[1]), cue.Value{})
		return short(fmt.Sprint(args[0])) + " " + words, hint
	case strings.Contains(format, "mismatched types") && len(args) == 4:
		return fmt.Sprintf("conflicting values %s and %s", short(fmt.Sprint(args[0])), short(fmt.Sprint(args[1]))), ""
	}
	// The error's own text goes on with its cause, behind the path.
	text := strings.TrimPrefix(err.Error(), strings.Join(err.Path(), ".")+": ")
	if strings.Contains(err.Error(), "import failed") {
		return importWords(err.Error())
	}
	text, _, _ = strings.Cut(text, "\n")
	if strings.Contains(text, Noise) {
		text = "the value does not fit here"
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:197]) + "..."
	}
	text = strings.TrimSuffix(text, ":")
	return text, syntaxHint(text)
}

// importWords says why an import failed. Of packages that are not there CUE
// speaks in terms of registries and caches; what is wrong inside a package is
// told as it is.
func importWords(text string) (message, hint string) {
	_, reason, _ := strings.Cut(text, "import failed: ")
	const missing = `cannot find package "`
	if i := strings.Index(reason, missing); i >= 0 {
		name, _, _ := strings.Cut(reason[i+len(missing):], `"`)
		return Unimportable(name)
	}
	if strings.Contains(reason, "no cue.mod/module.cue file") {
		return "nothing can be imported: there is no cue.mod/module.cue", "seawall init writes one; it overwrites no file"
	}
	if strings.Contains(reason, "absolute path") {
		return "a package below cue.mod/pkg cannot be imported", importable
	}
	return "an imported package has a mistake: " + reason, ""
}

// Unimportable says that a package cannot be imported, and what can.
func Unimportable(name string) (message, hint string) {
	message = fmt.Sprintf("package %q cannot be imported", name)
	if strings.HasSuffix(name, "/seawall") {
		return message, "if it is the schema for editors: seawall init writes it again into the folder of cue.mod"
	}
	return message, importable
}

const importable = "only CUE's standard packages and folders of the repository's own module can be imported"

// Noise marks words that name the schema's own files.
const Noise = "/seawall/"

// joined writes a path as CUE does: list positions in brackets.
func joined(path []string) string {
	var b strings.Builder
	for i, part := range path {
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			fmt.Fprintf(&b, "[%s]", part)
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}
