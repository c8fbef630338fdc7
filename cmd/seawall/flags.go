package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// options are the flags that plan, apply and run share.
type options struct {
	config, dir, baseURL string
	only                 []string
	output               string
	logFormat, logLevel  string
}

// defaultConfig is where a service looks for its configuration.
const defaultConfig = "/etc/seawall/config.cue"

func (o *options) addTo(cmd *cobra.Command) {
	o.addSource(cmd)
	addLogFlags(cmd, &o.logFormat, &o.logLevel)
}

// addSource adds the flags that say what is desired, and of which platform.
func (o *options) addSource(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.config, "config", "", "configuration `FILE`; env SEAWALL_CONFIG (default "+defaultConfig+")")
	flags.StringVar(&o.dir, "dir", "", "read desired state from `DIR` instead of git")
	flags.StringVar(&o.baseURL, "base-url", "", "base URL of the platform's API, instead of the configured one")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagFilename("config", "cue")
}

func (o *options) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text, json or markdown")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json", "markdown"}, cobra.ShellCompDirectiveNoFileComp))
}

func (o *options) addOnly(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.only, "only", nil, "limit to `zone=NAME` or token=KEY (repeatable)")
}

func addLogFlags(cmd *cobra.Command, format, level *string) {
	cmd.Flags().StringVar(format, "log-format", "auto", "auto, text or json; auto is text on a terminal")
	cmd.Flags().StringVar(level, "log-level", "info", "debug, info, warn or error")
}

// configFile returns the configuration to read. It is empty where flags and
// environment say everything: --dir and --base-url, and nobody named a file.
func (o *options) configFile() string {
	if o.config != "" {
		return o.config
	}
	if env := os.Getenv("SEAWALL_CONFIG"); env != "" {
		return env
	}
	if o.dir != "" && o.baseURL != "" {
		return ""
	}
	return defaultConfig
}

// scope splits --only into zones and tokens; both are nil without the flag.
func (o *options) scope() (zones, tokens []string, err error) {
	for _, only := range o.only {
		kind, name, ok := strings.Cut(only, "=")
		switch {
		case ok && kind == "zone" && name != "":
			zones = append(zones, name)
		case ok && kind == "token" && name != "":
			tokens = append(tokens, name)
		default:
			return nil, nil, usage("--only %q is neither zone=NAME nor token=KEY", only)
		}
	}
	return zones, tokens, nil
}
