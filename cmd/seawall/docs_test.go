package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
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
		must.Do(t, err)
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
	"cli":     cliDoc,
	"quirks":  quirksDoc,
	"effects": effectsDoc,
	"tokens":  tokenDoc,
	"log":     logDoc,
	"api":     apiDoc,
	"actions": actionDoc,

	"deprecations": deprecationDoc,

	"fields":    fieldDoc,
	"functions": functionDoc,
}

func quirksDoc(*testing.T) string {
	var b strings.Builder
	b.WriteString("| quirk | touches | does |\n|---|---|---|\n")
	for _, q := range sim.Quirks() {
		cells := []string{"`" + q.Usage() + "`", q.Matches, q.Does}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// cliDoc is the short form of --help: for each command its flags, exit codes and examples.
// Flags that many commands have are told once.
func cliDoc(*testing.T) string {
	var b strings.Builder
	root := newRoot(&cli.Terminal{Out: io.Discard, Err: io.Discard})
	common := commonFlags(root)
	b.WriteString("## Common flags\n\n")
	flagTable(&b, slices.SortedFunc(maps.Values(common), func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) }))
	commandDocs(&b, root, "##", common)
	return b.String()
}

// commonFlags are the flags that four commands or more have with the same meaning. Where
// several of one name are, it is the one that most commands have.
func commonFlags(root *cobra.Command) map[string]*pflag.Flag {
	counts, common := map[string]int{}, map[string]*pflag.Flag{}
	walkCommands(root, func(cmd *cobra.Command) {
		for _, f := range flagsOf(cmd) {
			if counts[flagRow(f)]++; counts[flagRow(f)] == 4 {
				common[flagRow(f)] = f
			}
		}
	})
	most := map[string]int{}
	for row, f := range common {
		most[f.Name] = max(most[f.Name], counts[row])
	}
	maps.DeleteFunc(common, func(row string, f *pflag.Flag) bool { return counts[row] < most[f.Name] })
	return common
}

// walkCommands visits a command and all below it, but for those that cobra adds.
func walkCommands(cmd *cobra.Command, visit func(cmd *cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		if c.Name() != "completion" && c.Name() != "help" {
			walkCommands(c, visit)
		}
	}
}

// commandDocs writes the commands below a command, each with its own below it, but for
// completion, which cobra explains.
func commandDocs(b *strings.Builder, parent *cobra.Command, heading string, common map[string]*pflag.Flag) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "%s %s\n\n%s.\n\n", heading, cmd.CommandPath(), cmd.Short)
		if cmd.HasSubCommands() && len(flagsOf(cmd)) == 0 { // it only groups those below it
			commandDocs(b, cmd, heading+"#", common)
			continue
		}
		if use := strings.TrimSuffix(cmd.UseLine(), " [flags]"); use != cmd.CommandPath() {
			fmt.Fprintf(b, "```\n%s\n```\n\n", use)
		}
		var own []*pflag.Flag
		var shared []string
		for _, f := range flagsOf(cmd) {
			if common[flagRow(f)] != nil {
				shared = append(shared, "`--"+f.Name+"`")
			} else {
				own = append(own, f)
			}
		}
		flagTable(b, own)
		if len(shared) > 0 {
			fmt.Fprintf(b, "Common flags: %s.\n\n", strings.Join(shared, ", "))
		}
		if codes := exitCodes(cmd.Long); codes != "" {
			b.WriteString(codes + "\n\n")
		}
		if cmd.Example != "" {
			fmt.Fprintf(b, "```sh\n%s\n```\n\n", unindent(cmd.Example))
		}
		commandDocs(b, cmd, heading+"#", common)
	}
}

// exitCodes is the paragraph of a long help that says what the exit codes mean.
func exitCodes(long string) string {
	for paragraph := range strings.SplitSeq(long, "\n\n") {
		if strings.HasPrefix(paragraph, "Exit codes") {
			return strings.TrimSpace(paragraph)
		}
	}
	return ""
}

func flagsOf(cmd *cobra.Command) (flags []*pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			flags = append(flags, f)
		}
	})
	return flags
}

func flagTable(b *strings.Builder, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	b.WriteString("| flag | meaning | default |\n|---|---|---|\n")
	for _, f := range flags {
		b.WriteString(flagRow(f))
	}
	b.WriteByte('\n')
}

func flagRow(f *pflag.Flag) string {
	value, meaning := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	def := f.DefValue
	if def != "" && def != "[]" && def != "false" {
		def = "`" + def + "`"
	} else {
		def = ""
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+value), strings.ReplaceAll(meaning, "|", `\|`), def)
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
