package document

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/source"
)

// extensions tell the language of a notebook, or of a block of code, by the
// extension of its files.
var extensions = map[string]string{
	"python": ".py", "py": ".py", "python3": ".py", "javascript": ".js", "js": ".js", "typescript": ".ts", "ts": ".ts", "go": ".go", "golang": ".go", "ruby": ".rb", "rb": ".rb",
	"java": ".java", "kotlin": ".kt", "php": ".php", "rust": ".rs", "csharp": ".cs", "cs": ".cs", "powershell": ".ps1", "pwsh": ".ps1", "r": ".r", "julia": ".jl", "json": ".json", "lua": ".lua", "swift": ".swift",
}

// notebook reads the cells of a notebook. Those of code are one program: what one
// sets is known in the next; and so are the commands among them.
func notebook(n *yaml.Node, out *call.Sink) {
	language := strings.ToLower(text(get(get(get(n, "metadata"), "kernelspec"), "language")))
	program, script := placed{at: 1}, placed{at: 1}
	for _, cell := range items(get(n, "cells")) {
		lines := items(get(cell, "source"))
		if one := get(cell, "source"); len(lines) == 0 && one != nil {
			lines = []*yaml.Node{one}
		}
		if text(get(cell, "cell_type")) != "code" || len(lines) == 0 {
			continue
		}
		commands := strings.HasPrefix(lines[0].Value, "%%bash") || strings.HasPrefix(lines[0].Value, "%%sh")
		for _, line := range lines {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line.Value), "!"); ok || commands {
				script.add(line.Line, command)
			} else {
				program.add(line.Line, line.Value)
			}
		}
	}
	shell.Text(shell.Script{Text: script.String(), Line: 1}, out)
	source.Text(source.Code{Name: "cell" + cmp.Or(extensions[language], ".py"), Text: program.String(), Line: 1}, out)
}
