package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/importer"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/terraform"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// importFlags are those of seawall import.
type importFlags struct {
	setup.Options
	importer.Order
	vendor string
	tokens bool
	rules  bool
	from   string
	// unmanaged and noDeploy are what they were given as; see [importer.Order].
	unmanaged string
	noDeploy  bool
}

func newImport(t *cli.Terminal) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "Write desired state for what is live",
		Long: `Read zones from the platform and write CUE files into DIR that declare them as they
are. A plan of these files is empty. What many zones share becomes a tier; a zone that
differs from its tier has the difference as an exception. What CUE cannot declare is
kept, and named. Each deployment says unmanaged: "remove", so that overrides which
someone adds later are removed; with --unmanaged keep they stay, and with none the
configuration decides (drift.unmanaged). It also says deploy: true, so that a deployment
which someone deletes is created again; --no-deploy leaves that out, and so does the
profile "documented", which has no call for it.

Skip rules of the platform that keep requests from a deployment are declared as accepted,
with the owner "TODO" and with a comment: seawall validate warns until you name an owner.
One that matches each request needs a person until then, because the deployment is off.
They are looked for in the entry point, in the custom phase of each zone with a
deployment (one request a zone) and in that of the account (once).

A new repository gets what seawall init writes. In a repository with CUE files, only
zones that are not declared yet are imported, into files of their own. No existing file
is overwritten without --force. Before anything is written, the files are evaluated
and compared with what was read.

Only reads are sent, within the request budget. An import that is interrupted keeps
what it has read in DIR/.seawall-import for a day; the same command goes on from there.
Then the folder is removed. Nothing is written outside of DIR, except the shared count
of requests.

A platform with the profile "extended" lists its zones; --account and --zone limit them.
A zone is then declared by its name alone, with its id in a comment; with --ids, by its
id. With "documented" (the default), give the zones by id: --account KEY=ID with --zone
NAME=ID or --zones FILE.

Where the configuration has accounts, each account is read with its own credential,
base URL and budget. Which account is meant is known from the files in DIR, or from
--account KEY=ID. Otherwise it is the account with that name, or the only one that the
credential can see. An account whose credential does not work is left out, and named.

With --from, zones, their rulesets and (with --tokens) API tokens come from a Terraform
state or plan, and no platform is needed; with --base-url or --config beside it, only the
list of zones does, and what is live is read. What Seawall cannot manage is listed with
its resource address.

Exit codes: 0 all of it was imported; 4 something could not be read or declared: it is
named in the output and in a comment in the files; 1 failure; 130 interrupted by
SIGINT, 143 by SIGTERM.`,
		Example: `  seawall import --profile extended --base-url https://api.example.com/client/v4 my-edge
  seawall import --profile extended --account "Example Ltd" --zone shop.example my-edge
  seawall import --account prod=0123456789abcdef0123456789abcdef --zones zones.txt --base-url https://api.example.com/client/v4 my-edge
  seawall import --from terraform.tfstate --tokens my-edge`,
		Args: oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Order.Dir = args[0]
			return runImport(t, cmd, f)
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags of seawall import.
func (f *importFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	setup.AddConfig(cmd, &f.Options)
	f.AddPlatform(cmd)
	flags.StringVar(&f.vendor, "vendor", "", "vendor segment of resource keys, instead of the configured one")
	flags.StringArrayVar(&f.Accounts, "account", nil, "limit to the account `NAME` or ID; KEY=ID gives it a key (repeatable)")
	flags.StringArrayVar(&f.Zones, "zone", nil, "limit to the zone `NAME`; NAME=ID where the platform lists no zones (repeatable)")
	flags.StringVar(&f.File, "zones", "", "read zones from `FILE`, with a line NAME ID [ACCOUNT_ID] for each")
	flags.StringVar(&f.from, "from", "", "read zones, rulesets and tokens from the Terraform state or plan `FILE`")
	flags.StringVar(&f.Module, "module", "edge.example/desired", "`PATH` of the CUE module of a new repository")
	flags.BoolVar(&f.tokens, "tokens", false, "import API tokens, too; never their secrets")
	flags.BoolVar(&f.rules, "rules", false, "import custom rules, rate limits and exceptions, too: two more requests a zone")
	flags.BoolVar(&f.IDs, "ids", false, "declare the id of each zone, also where its name is enough")
	flags.StringVar(&f.unmanaged, "unmanaged", string(desired.Remove), "`DECISION` on overrides that are added later: remove, keep, or none")
	flags.BoolVar(&f.noDeploy, "no-deploy", false, "declare no deploy: true: a deployment that someone deletes is reported, not created again")
	_ = cmd.RegisterFlagCompletionFunc("unmanaged", cobra.FixedCompletions([]string{"remove", "keep", "none"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("account", setup.CompleteAccount)
	_ = cmd.RegisterFlagCompletionFunc("zone", cobra.NoFileCompletions)
	flags.BoolVar(&f.Force, "force", false, "ignore what DIR declares, and overwrite files of the same names")
}

// decide reads what is to become of overrides that appear after the import.
func (f *importFlags) decide() error {
	switch f.unmanaged {
	case string(desired.Remove), string(desired.Keep):
		f.Unmanaged = desired.Unmanaged(f.unmanaged)
	case "none":
	default:
		return cli.Fail(fmt.Errorf("--unmanaged %q is not one of remove, keep, none", f.unmanaged), "remove is the default")
	}
	return nil
}

// deploys is why deployments are declared without deploy: true; nothing where they are with it.
func (f *importFlags) deploys(documented bool) importer.NoDeploy {
	switch {
	case f.noDeploy:
		return importer.NotAsked
	case documented:
		return importer.NotOffered
	}
	return ""
}

func runImport(t *cli.Terminal, cmd *cobra.Command, f importFlags) error {
	if err := f.decide(); err != nil {
		return err
	}
	if err := checkModule(f.Module); err != nil {
		return err
	}
	if f.from != "" && f.BaseURL == "" && f.Options.Config == "" {
		return importState(t, cmd, f)
	}
	platform, s, reading, err := f.platform(t)
	if err != nil {
		return err
	}
	defer reading.Close()
	if f.tokens {
		if platform.Tokens, err = tokensOf(s); err != nil {
			return err
		}
	}
	f.Origin, f.Plan, f.NoDeploy = s.Platform.BaseURL, f.planCommand(s), f.deploys(platform.Documented)
	if f.from != "" {
		state, err := readState(f.from)
		if err != nil {
			return err
		}
		f.Given, platform.Unmanaged = state.Zones, state.Left
	}
	show, wipe := t.Follow(reading.Quota)
	defer wipe()
	return importer.Import(cmd.Context(), t, platform, f.Order, show)
}

// importState imports from a Terraform state, without the platform.
func importState(t *cli.Terminal, cmd *cobra.Command, f importFlags) error {
	state, err := readState(f.from)
	if err != nil {
		return err
	}
	f.Given, f.Origin, f.Plan = state.Zones, filepath.Base(f.from), "seawall plan --dir "+f.Order.Dir+" --base-url "+schema.Cloudflare.BaseURL
	if f.NoDeploy = f.deploys(f.Profile != "extended"); f.NoDeploy == importer.NotOffered && f.Profile == "" {
		f.NoDeploy = importer.NotKnown
	}
	reads := state.Platform()
	platform := importer.Platform{
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: reads, Concurrency: 1}), Names: directory.New(directory.Config{Now: time.Now}),
		ByID: true, Unmanaged: state.Left, Rules: f.rules,
	}
	if f.tokens {
		platform.Tokens, platform.Owned = reads, state.Owned
	}
	return importer.Import(cmd.Context(), t, platform, f.Order, nil)
}

func readState(name string) (terraform.State, error) {
	file, err := trusted.Input(name)
	if err != nil {
		return terraform.State{}, cli.Fail(err, "--from takes a terraform.tfstate, or the output of terraform show -json")
	}
	defer file.Close()
	state, err := terraform.Read(file)
	if err != nil {
		return state, cli.Fail(fmt.Errorf("%s: %w", name, err), "terraform show -json > state.json writes one")
	}
	if len(state.Zones) == 0 {
		return state, cli.Fail(fmt.Errorf("%s has no zone and no ruleset of a zone", name), "zones are resources cloudflare_zone, rulesets cloudflare_ruleset")
	}
	return state, nil
}

// platform is what may be read, with the settings that it comes from. A plan with the
// configuration finds no zone by its name where that says "documented": then ids are declared.
func (f *importFlags) platform(t *cli.Terminal) (importer.Platform, setup.Settings, setup.Reading, error) {
	s, err := f.settings(t)
	if err != nil {
		return importer.Platform{}, s, setup.Reading{}, err
	}
	f.IDs = f.IDs || s.Platform.Profile == "documented"
	if f.Profile != "" {
		s.Platform.Profile = f.Profile
	}
	if f.rules && !s.Platform.Extended() {
		return importer.Platform{}, s, setup.Reading{}, cli.Fail(errors.New(`a platform with the profile "documented" has no rules but those of deployments`), "import without --rules")
	}
	reading, err := setup.ReadPlatform(s, slog.New(slog.DiscardHandler))
	return importer.Platform{
		Lanes: reading.Lanes, Names: reading.Names, Lists: s.Platform.Extended(),
		Documented: !s.Platform.Extended(), Vendor: s.Platform.Vendor, Rules: f.rules,
	}, s, reading, err
}

// tokensOf reads the platform's tokens, with a credential of their own.
func tokensOf(s setup.Settings) (edge.TokenReader, error) {
	const hint = "import without --tokens"
	if !s.Platform.Extended() {
		return nil, cli.Fail(errors.New(`a platform with the profile "documented" lists no tokens`), hint)
	}
	if s.Credentials.Tokens == nil {
		if os.Getenv(setup.EnvTokensToken) == "" {
			return nil, cli.Fail(errors.New("--tokens needs a credential for tokens"),
				"put it into "+setup.EnvTokensToken+", or set credentials.tokens in the configuration")
		}
		s.Credentials.Tokens = &schema.SecretRef{Env: setup.EnvTokensToken}
	}
	if _, err := setup.ReadToken(*s.Credentials.Tokens); err != nil {
		return nil, fmt.Errorf("credentials.tokens: %w", err)
	}
	return s.TokenReader(nil)
}

// settings are configuration and flags; a base URL needs no configuration.
func (f importFlags) settings(t *cli.Terminal) (setup.Settings, error) {
	o := f.Options
	if err := o.CheckProfile(); err != nil {
		return setup.Settings{}, err
	}
	o.Dir = f.Order.Dir // a folder and a base URL need no configuration
	o.Profile = ""      // what the daemon goes by is asked first
	o.FromGit = o.Dir == ""
	s, err := setup.ReadSettings(t, o)
	if err != nil {
		return s, err
	}
	if f.vendor != "" {
		s.Platform.Vendor = f.vendor
	}
	return s, nil
}

// planCommand is how to plan what was imported.
func (f importFlags) planCommand(s setup.Settings) string {
	command := "seawall plan --dir " + f.Order.Dir
	switch {
	case f.Options.Config != "":
		command += " --config " + f.Options.Config
	case f.Options.ConfigFile() == setup.DefaultConfig && f.BaseURL != "":
		command += " --base-url " + s.Platform.BaseURL
	}
	if f.Profile != "" {
		command += " --profile " + f.Profile
	}
	return command
}
