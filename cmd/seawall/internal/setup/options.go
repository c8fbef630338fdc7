package setup

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// Options are the flags that plan, apply and run share.
type Options struct {
	Config, Dir, BaseURL, Profile string
	Only                          []string // zone=NAME, token=KEY
	FromGit                       bool     // the command reads the configured repository, and no folder
	Output                        string
	LogFormat, LogLevel           string
}

// profiles are the values of --profile.
var profiles = []string{"documented", "extended"}

// DefaultConfig is where a service looks for its configuration.
const DefaultConfig = "/etc/seawall/config.cue"

// AddTo adds the flags that each run has.
func (o *Options) AddTo(cmd *cobra.Command) {
	o.AddSource(cmd)
	AddLogFlags(cmd, &o.LogFormat, &o.LogLevel)
}

// AddSource adds the flags that say what is desired, and of which platform.
func (o *Options) AddSource(cmd *cobra.Command) {
	AddConfig(cmd, o)
	o.AddDir(cmd, "", "read desired state from `DIR` instead of git")
	o.AddPlatform(cmd)
}

// AddDir adds --dir.
func (o *Options) AddDir(cmd *cobra.Command, usual, usage string) {
	cmd.Flags().StringVar(&o.Dir, "dir", usual, usage)
	_ = cmd.MarkFlagDirname("dir")
}

// AddPlatform adds the flags that say which platform it is, and which calls it offers.
func (o *Options) AddPlatform(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.BaseURL, "base-url", "", "base URL of the platform's API, instead of the configured one")
	flags.StringVar(&o.Profile, "profile", "", "documented or extended: which calls the platform offers, instead of the configured ones")
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profiles, cobra.ShellCompDirectiveNoFileComp))
}

// CheckProfile refuses a value of --profile that is none.
func (o *Options) CheckProfile() error {
	if o.Profile == "" {
		return nil
	}
	return cli.OneOf("--profile", o.Profile, profiles...)
}

// AddOnly adds --only.
func (o *Options) AddOnly(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.Only, "only", nil, "limit to `zone=NAME` or token=KEY (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("only", completeOnly)
}

// AddLogFlags adds --log-format and --log-level.
func AddLogFlags(cmd *cobra.Command, format, level *string) {
	cmd.Flags().StringVar(format, "log-format", "auto", "auto, text or json; auto is text on a terminal")
	cmd.Flags().StringVar(level, "log-level", "info", "debug, info, warn or error")
}

// NamesConfig reports whether flags or environment name a configuration.
func (o *Options) NamesConfig() bool { return o.Config != "" || os.Getenv("SEAWALL_CONFIG") != "" }

// ConfigFile returns the configuration to read. It is empty where flags and
// environment say everything: --dir and --base-url, and no one named a file.
func (o *Options) ConfigFile() string {
	switch {
	case o.NamesConfig():
		return cmp.Or(o.Config, os.Getenv("SEAWALL_CONFIG"))
	case o.Dir != "" && o.BaseURL != "":
		return ""
	}
	return DefaultConfig
}

// Scope splits --only into zones and tokens; both are nil without the flag.
func (o *Options) Scope() (zones, tokens []string, err error) {
	for _, only := range o.Only {
		kind, name, ok := strings.Cut(only, "=")
		switch {
		case ok && kind == "zone" && name != "":
			zones = append(zones, name)
		case ok && kind == "token" && name != "":
			tokens = append(tokens, name)
		default:
			return nil, nil, cli.Fail(fmt.Errorf("--only %q is neither zone=NAME nor token=KEY", only), onlyHint(only))
		}
	}
	return zones, tokens, nil
}

// onlyHint guesses what was meant: a name with a dot is that of a zone.
func onlyHint(only string) string {
	switch {
	case strings.ContainsAny(only, "= ") || only == "":
		return "write --only zone=shop.example, or --only token=ci-dns"
	case strings.Contains(only, "."):
		return "did you mean --only zone=" + only + "?"
	}
	return "did you mean --only zone=" + only + ", or --only token=" + only + "?"
}

// AddConfig adds --config alone.
func AddConfig(cmd *cobra.Command, o *Options) {
	cmd.Flags().StringVar(&o.Config, "config", "", "configuration `FILE`; env SEAWALL_CONFIG (default "+DefaultConfig+")")
	_ = cmd.MarkFlagFilename("config", "cue")
}
