package schema

import (
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// LoadRequest reads a file with a #Request, in CUE or in JSON, which is CUE. It returns it as JSON.
func LoadRequest(name string, data []byte) ([]byte, []desired.Problem) {
	c := configReader{name: name}
	file, err := parser.ParseFile(inside, data)
	if err != nil {
		return nil, c.renamed(explain.Raw(err, "."))
	}
	if problems := c.imports(file); len(problems) > 0 {
		return nil, c.renamed(problems)
	}
	ctx := cuecontext.New()
	def, err := Definition(ctx, "#Request")
	if err != nil {
		return nil, []desired.Problem{{Message: err.Error()}}
	}
	unified, problems := explain.Check(ctx.BuildFile(file), def, explain.Files{Own: ".", Syntax: []*ast.File{file}})
	if len(problems) > 0 {
		return nil, c.renamed(problems)
	}
	text, err := unified.MarshalJSON()
	if err != nil {
		return nil, c.renamed([]desired.Problem{{Origin: desired.Origin{File: inside, Line: 1, Column: 1}, Message: err.Error()}})
	}
	return text, nil
}
