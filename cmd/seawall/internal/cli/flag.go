package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// AddOutput adds --output, which takes one of some words; the first is the default.
func AddOutput(cmd *cobra.Command, output *string, words ...string) {
	*output = words[0]
	cmd.Flags().VarP(outputValue{output, words}, "output", "o", Either(words))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Either is "text, json or markdown".
func Either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// outputValue is the value of --output. It implements [pflag.Value].
type outputValue struct {
	word  *string
	words []string
}

func (v outputValue) String() string { return *v.word }
func (v outputValue) Type() string   { return "string" }

// Set refuses other words with a [HintError].
func (v outputValue) Set(word string) error {
	*v.word = word
	return OneOf("--output", word, v.words...)
}

// AddLength adds a flag that takes a length of time, also in days and weeks; see [inspect.Length].
func AddLength(cmd *cobra.Command, value *time.Duration, name string, usual time.Duration, usage string) {
	*value = usual
	cmd.Flags().Var(lengthValue{value, name}, name, usage)
}

// lengthValue is the value of such a flag. It implements [pflag.Value].
type lengthValue struct {
	length *time.Duration
	flag   string
}

func (v lengthValue) Type() string { return "duration" }
func (v lengthValue) String() string {
	if v.length == nil || *v.length == 0 {
		return ""
	}
	return v.length.String()
}

// Set refuses other text with a [HintError].
func (v lengthValue) Set(text string) (err error) {
	if *v.length, err = inspect.Length(text); err != nil {
		return Fail(fmt.Errorf("--%s %q is not a length of time", v.flag, text), "write it as 45m, 2h, 1d12h or 2w")
	}
	return nil
}

// usualFlags are what flags are called in other programs, in small letters with hyphens.
var usualFlags = map[string][]string{
	"dir":       {"directory", "folder", "path", "chdir", "cwd"},
	"base-url":  {"url", "endpoint", "api-url", "server"},
	"config":    {"config-file", "conf", "file", "kubeconfig"},
	"output":    {"format", "json"},
	"out":       {"plan-file"},
	"listen":    {"port", "addr", "address", "bind"},
	"log-level": {"verbose", "debug", "quiet"},
	"yes":       {"auto-approve", "assume-yes"},
	"only":      {"target", "zone", "selector"},
}

// UnknownFlag proposes a flag of the command for one that it does not take; empty where
// none is meant.
func UnknownFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	name := strings.ReplaceAll(strings.ToLower(unknown.GetSpecifiedName()), "_", "-")
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	for _, flag := range known {
		if flag == name || slices.Contains(usualFlags[flag], name) {
			return meant(flag, name)
		}
	}
	if near := nearest.Word(name, known); near != "" {
		return "did you mean --" + near + "?"
	}
	if cmd.Flags().Lookup("dir") == nil && strings.Contains(cmd.Use, "DIR") && (name == "dir" || slices.Contains(usualFlags["dir"], name)) {
		return "the folder has no flag: " + cmd.CommandPath() + " DIR"
	}
	return ""
}

func meant(flag, name string) string {
	if name == "json" {
		return "did you mean --" + flag + " json?"
	}
	return "did you mean --" + flag + "?"
}
