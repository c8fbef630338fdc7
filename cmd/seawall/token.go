package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/access"
)

func newToken(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Explain API tokens, and record facts about them",
		Long: `explain and who-can say what declared API tokens may do. They read only the desired
state. list shows the tokens in the ledger. init, adopt, resolve and revoked record
facts in the ledger that Seawall cannot find out itself. No command writes to the
platform.`,
		Example: "  seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --zone shop.example --dir .",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenInit(t), newTokenList(t), newTokenAdopt(t), newTokenResolve(t), newTokenRevoked(t), newTokenExplain(t), newTokenWhoCan(t))
	return cmd
}

// inquiry is a question about tokens as it stands on the command line.
type inquiry struct {
	options
	group, zone, account string
	user                 bool
	ip, at               string
}

func (i *inquiry) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&i.group, "group", "", "permission group to check: its `ID`, or its declared name")
	flags.StringVar(&i.zone, "zone", "", "on this zone: its declared `NAME`, or its id")
	flags.StringVar(&i.account, "account", "", "on this account, or with --zone the account of the zone: its declared `KEY`, or its id")
	flags.BoolVar(&i.user, "user", false, "on the calling user")
	flags.StringVar(&i.ip, "ip", "", "from this client `ADDRESS`; without it addresses are not checked")
	flags.StringVar(&i.at, "at", "", "at this `TIME`, 2027-01-01T00:00:00Z or now; without it the validity window is not checked")
	flags.StringVar(&i.config, "config", "", "configuration `FILE`; env SEAWALL_CONFIG (default "+defaultConfig+")")
	flags.StringVar(&i.dir, "dir", "", "read desired state from `DIR` instead of git; needs no configuration")
	flags.StringVarP(&i.output, "output", "o", "text", "text or json")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagFilename("config", "cue")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// ask reads the desired state and makes the question of the flags. Flags that
// cannot be meant are told before anything is read.
func (i inquiry) ask(cmd *cobra.Command, t *terminal) (desired.State, question, error) {
	q, err := i.limits(time.Now)
	if err == nil {
		err = i.check()
	}
	if err != nil {
		return desired.State{}, question{}, err
	}
	state, err := t.declared(cmd, i.options)
	if err != nil {
		return desired.State{}, question{}, err
	}
	q.Group, q.byName = i.group, named(state, i.group)
	q.Target, q.onWhat, err = i.target(state)
	return state, q, err
}

func (i inquiry) check() error {
	if err := oneOf("--output", i.output, "text", "json"); err != nil {
		return err
	}
	switch {
	case i.group == "":
		return fail(errors.New("--group is missing"), "name the permission group by its id, as in a token's permission_groups")
	case i.zone == "" && i.account == "" && !i.user:
		return fail(errors.New("--zone, --account or --user is missing"), "give --zone NAME, --account KEY or --user")
	case i.user && (i.zone != "" || i.account != ""):
		return fail(errors.New("--user cannot be combined with --zone or --account"), "ask about one target at a time")
	}
	return nil
}

// limits reads the address and the time.
func (i inquiry) limits(now func() time.Time) (q question, err error) {
	if i.ip != "" {
		if q.IP, err = netip.ParseAddr(i.ip); err != nil {
			return q, fail(fmt.Errorf("--ip %q is not an address", i.ip), "name one address, such as 192.0.2.7 or 2001:db8::7, not a range")
		}
	}
	switch {
	case i.at == "now":
		q.At = now()
	case i.at != "":
		if q.At, err = time.Parse(time.RFC3339, i.at); err != nil {
			return q, fail(fmt.Errorf("--at %q is not a time", i.at), "write it as 2027-01-01T00:00:00Z, or now")
		}
	}
	return q, nil
}

// question is a question with the words for what it is about.
type question struct {
	access.Question
	onWhat string // zone "shop.example"
	byName bool   // the group is asked for by a name that is declared
}

// named reports whether some declared token calls a permission group so.
func named(state desired.State, group string) bool {
	for _, token := range state.Tokens {
		for _, p := range token.Policies {
			for _, g := range p.PermissionGroups {
				if g.Name == group && g.ID != group {
					return true
				}
			}
		}
	}
	return false
}

// declared reads the desired state, from a folder or from the configured
// repository. Mistakes in it are told, and end the command.
func (t *terminal) declared(cmd *cobra.Command, o options) (desired.State, error) {
	state, problems, err := t.compiled(cmd, o)
	if err != nil {
		return desired.State{}, explain(err)
	}
	t.problems(t.err, problems)
	if n := len(desired.Errors(problems)); n > 0 {
		return desired.State{}, fail(fmt.Errorf("the desired state has %s", plural(n, "mistake", "mistakes")),
			"seawall validate checks a folder without a network")
	}
	return state, nil
}

func (t *terminal) compiled(cmd *cobra.Command, o options) (desired.State, []desired.Problem, error) {
	if o.dir != "" {
		return newFolder(o.dir).Compile(cmd.Context(), "")
	}
	path := o.configFile()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && path == defaultConfig {
		return desired.State{}, nil, fail(fmt.Errorf("there is no configuration: %s does not exist", path),
			"name a folder of desired state with --dir, or a configuration with --config or SEAWALL_CONFIG")
	}
	config, err := t.loadConfig(path)
	if err != nil {
		return desired.State{}, nil, err
	}
	repository, err := newRepository(config, slog.New(slog.DiscardHandler))
	if err != nil {
		return desired.State{}, nil, err
	}
	commit, err := repository.Fetch(cmd.Context())
	if err != nil {
		return desired.State{}, nil, err
	}
	return repository.Compile(cmd.Context(), commit)
}
