package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/sim"
)

// TestGeneratedDocs holds the generated parts of docs/ to the code. A part
// stands between <!-- generated: NAME --> and <!-- end -->; -update rewrites it.
func TestGeneratedDocs(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no docs: %v", err)
	}
	used := map[string]bool{}
	parts := generatedPart()
	for _, file := range files {
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := parts.ReplaceAllFunc(have, func(part []byte) []byte {
			name := string(parts.FindSubmatch(part)[1])
			generate, ok := generators[name]
			if !ok {
				t.Fatalf("%s: nothing generates %q", file, name)
			}
			used[name] = true
			return fmt.Appendf(nil, "<!-- generated: %s -->\n%s<!-- end -->", name, generate(t))
		})
		if bytes.Equal(have, want) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the code says; run the test with -update", file)
		} else if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range generators {
		if !used[name] {
			t.Errorf("no document has the part %q", name)
		}
	}
}

func generatedPart() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<!-- generated: ([a-z.]+) -->\n.*?<!-- end -->`)
}

var generators = map[string]func(*testing.T) string{
	"cli":           cliDoc,
	"quirks":        quirksDoc,
	"effects":       effectsDoc,
	"config.cue":    schemaDoc("config.cue"),
	"guards.cue":    schemaDoc("guards.cue"),
	"accounts.cue":  schemaDoc("accounts.cue"),
	"desired.cue":   schemaDoc("desired.cue"),
	"tokens.cue":    schemaDoc("tokens.cue"),
	"resources.cue": schemaDoc("resources.cue"),
	"tokens":        tokenDoc,
	"log":           logDoc,

	"deprecations":     deprecationDoc,
	"deprecations.cue": schemaDoc("deprecations.cue"),
}

func schemaDoc(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		text, err := fs.ReadFile(schema.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		return "```cue\n" + string(text) + "```\n"
	}
}

func quirksDoc(*testing.T) string {
	var b strings.Builder
	b.WriteString("| quirk | touches | does | imitates |\n|---|---|---|---|\n")
	for _, q := range sim.Quirks() {
		cells := []string{"`" + q.Usage() + "`", q.Matches, q.Does, q.Imitates}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

func cliDoc(*testing.T) string {
	var b strings.Builder
	commandDocs(&b, newRoot(&cli.Terminal{Out: io.Discard, Err: io.Discard}), "##")
	return b.String()
}

// commandDocs writes the commands below a command, each with its own below it.
// Those of completion differ in the shell's name only, and cobra tells them.
func commandDocs(b *strings.Builder, parent *cobra.Command, heading string) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() {
			continue
		}
		fmt.Fprintf(b, "%s %s\n\n%s.\n\n", heading, cmd.CommandPath(), cmd.Short)
		if cmd.Long != "" {
			b.WriteString(strings.TrimSpace(cmd.Long) + "\n\n")
		}
		fmt.Fprintf(b, "```\n%s\n```\n\n", cmd.UseLine())
		flagTable(b, cmd)
		if cmd.Example != "" {
			fmt.Fprintf(b, "```sh\n%s\n```\n\n", unindent(cmd.Example))
		}
		if cmd.Name() != "completion" {
			commandDocs(b, cmd, heading+"#")
		}
	}
}

func flagTable(b *strings.Builder, cmd *cobra.Command) {
	rows := 0
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("| flag | meaning | default |\n|---|---|---|\n")
		}
		value, meaning := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		def := f.DefValue
		if def != "" && def != "[]" {
			def = "`" + def + "`"
		} else {
			def = ""
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+value), strings.ReplaceAll(meaning, "|", `\|`), def)
	})
	if rows > 0 {
		b.WriteByte('\n')
	}
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
