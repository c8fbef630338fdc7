package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/integration/must"
)

// Each command in a document, in a block or within a line, is one that the binary has, with
// flags that it has. What the commands print is held to by tests of the documents that are
// tutorials.
func TestCommandsInDocuments(t *testing.T) {
	root := newRoot(&cli.Terminal{In: os.Stdin, Out: io.Discard, Err: io.Discard})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	commands := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/adr/*.md", "../../deploy/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			must.Do(t, err)
			for _, words := range commandsIn(string(text)) {
				commands++
				if problem := unknownIn(root, words); problem != "" {
					t.Errorf("%s: seawall %s: %s", strings.TrimPrefix(file, "../../"), strings.Join(words, " "), problem)
				}
			}
		}
	}
	if commands < 200 {
		t.Errorf("only %d commands are found", commands)
	}
}

// commandsIn returns the words of the commands in a document that begin with seawall.
func commandsIn(document string) (commands [][]string) {
	codeBlock := regexp.MustCompile("(?ms)^[ \t]*```(\\w*)\n(.*?)^[ \t]*```")
	codeSpan := regexp.MustCompile("`([^`\n]+)`")
	prompt := regexp.MustCompile(`(?m)^\$ `)
	for _, block := range codeBlock.FindAllStringSubmatch(document, -1) {
		switch block[1] {
		case "sh", "bash", "console", "shell":
			commands = append(commands, callsIn(prompt.ReplaceAllString(block[2], ""))...)
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(document, ""), -1) {
		commands = append(commands, callsIn(span[1])...)
	}
	return commands
}

// callsIn returns the commands in a script. What the shell would put in place of a word is
// an X. A text that is no script has none.
func callsIn(script string) (calls [][]string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words := make([]string, len(call.Args))
		for i, word := range call.Args {
			if words[i] = word.Lit(); words[i] == "" {
				words[i] = "X"
			}
		}
		for i, word := range words {
			if program := filepath.Base(word); program == "seawall" || program == "seawall-as-service" {
				calls = append(calls, words[i+1:])
				break
			}
			if word != "sudo" {
				break
			}
		}
		return true
	})
	return calls
}

// unknownIn says what of a command the program does not have.
func unknownIn(root *cobra.Command, words []string) string {
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if len(rest) > 0 && cmd.HasSubCommands() && cmd.Run == nil && cmd.RunE == nil && !strings.HasPrefix(rest[0], "-") && rest[0] != "…" {
		return "there is no command " + rest[0]
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			return "there is no flag --" + name
		}
	}
	return ""
}

// The help of each command has an example of it, but for those that cobra adds.
func TestHelpHasExample(t *testing.T) {
	commands := 0
	walkCommands(newRoot(&cli.Terminal{Out: io.Discard, Err: io.Discard}), func(cmd *cobra.Command) {
		commands++
		if cmd.HasParent() && !strings.HasPrefix(cmd.Example, "  "+cmd.CommandPath()) {
			t.Errorf("%s --help has the examples %q", cmd.CommandPath(), cmd.Example)
		}
	})
	if commands < 20 {
		t.Errorf("only %d commands are found", commands)
	}
}
