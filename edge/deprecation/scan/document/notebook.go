package document

import (
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
// sets is known in the next.
func notebook(n *yaml.Node, out *call.Sink) {
	language := text(get(get(get(n, "metadata"), "kernelspec"), "language"))
	ext := extensions[strings.ToLower(language)]
	if ext == "" {
		ext = ".py"
	}
	program := placed{at: 1}
	for _, cell := range items(get(n, "cells")) {
		lines := items(get(cell, "source"))
		if len(lines) == 0 && get(cell, "source") != nil {
			lines = []*yaml.Node{get(cell, "source")}
		}
		if text(get(cell, "cell_type")) != "code" || len(lines) == 0 {
			continue
		}
		if first := lines[0].Value; strings.HasPrefix(first, "%%bash") || strings.HasPrefix(first, "%%sh") {
			script := placed{at: lines[0].Line + 1}
			for _, line := range lines[1:] {
				script.add(line.Line, line.Value)
			}
			shell.Text(shell.Script{Text: script.String(), Line: lines[0].Line + 1}, out)
			continue
		}
		for _, line := range lines {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line.Value), "!"); ok {
				shell.Text(shell.Script{Text: command, Line: line.Line}, out)
				continue
			}
			program.add(line.Line, line.Value)
		}
	}
	source.Text(source.Code{Name: "cell" + ext, Text: program.String(), Line: 1}, out)
}
