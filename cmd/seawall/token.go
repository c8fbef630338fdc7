package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/permission"
)

func newToken(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "token",
		Short: "Explain API tokens, record facts about them, rotate them",
		Long: `explain and who-can say what declared API tokens may do. They read only the desired
state. list shows the tokens in the ledger. init, adopt, resolve and revoked record
facts in the ledger that Seawall cannot find out itself; they write nothing to the
platform. rotate creates the successor of a token now. A running daemon carries out
these five; without a daemon the command does it itself.`,
		Example: "  seawall token explain ci-dns --group 4755a26eedb94da69e1066d98aa820be --zone shop.example --dir .",
	}, newTokenInit(t), newTokenList(t), newTokenAdopt(t), newTokenResolve(t), newTokenRevoked(t), newTokenRotate(t), newTokenExplain(t), newTokenWhoCan(t))
}

// inquiry is a question about tokens as it stands on the command line.
type inquiry struct {
	setup.Options
	permission.Subject
	group, ip, at string
}

func (i *inquiry) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&i.group, "group", "", "permission group to check: its `ID`, or its declared name")
	flags.StringVar(&i.Zone, "zone", "", "on this zone: its declared `NAME`, or its id")
	flags.StringVar(&i.Account, "account", "", "on this account, or with --zone the account of the zone: its declared `KEY`, or its id")
	flags.BoolVar(&i.User, "user", false, "on the calling user")
	flags.StringVar(&i.ip, "ip", "", "from this client `ADDRESS`; without it addresses are not checked")
	flags.StringVar(&i.at, "at", "", "at this `TIME`, 2027-01-01T00:00:00Z or now; without it the validity window is not checked")
	setup.AddConfig(cmd, &i.Options)
	i.AddDir(cmd, "", "read desired state from `DIR` instead of git; needs no configuration")
	cli.AddOutput(cmd, &i.Output, "text", "json")
}

// ask reads the desired state and makes the question of the flags. Flags that
// cannot be meant are reported before anything is read.
func (i inquiry) ask(cmd *cobra.Command, t *cli.Terminal) (desired.State, permission.Query, error) {
	q, err := i.limits(time.Now)
	if err == nil {
		err = i.check()
	}
	if err != nil {
		return desired.State{}, permission.Query{}, err
	}
	state, err := setup.LoadState(cmd.Context(), t, i.Options)
	if err == nil {
		state, err = setup.KnownIDs(cmd.Context(), t, i.Options, state)
	}
	if err != nil {
		return desired.State{}, permission.Query{}, err
	}
	q.Group, q.ByName = i.group, permission.DeclaresName(state, i.group)
	if q.Target, q.OnWhat, err = i.Target(state); err != nil {
		return state, q, err
	}
	return state, q, nil
}

func (i inquiry) check() error {
	switch {
	case i.group == "":
		return cli.Fail(errors.New("--group is missing"), "name the permission group by its id, as in a token's permission_groups")
	case i.Zone == "" && i.Account == "" && !i.User:
		return cli.Fail(errors.New("--zone, --account or --user is missing"), "give --zone NAME, --account KEY or --user")
	case i.User && (i.Zone != "" || i.Account != ""):
		return cli.Fail(errors.New("--user cannot be combined with --zone or --account"), "ask about one target at a time")
	}
	return nil
}

// limits reads the address and the time.
func (i inquiry) limits(now func() time.Time) (q permission.Query, err error) {
	if i.ip != "" {
		if q.IP, err = netip.ParseAddr(i.ip); err != nil {
			return q, cli.Fail(fmt.Errorf("--ip %q is not an address", i.ip), "name one address, such as 192.0.2.7 or 2001:db8::7, not a range")
		}
	}
	switch {
	case i.at == "now":
		q.At = now()
	case i.at != "":
		if q.At, err = time.Parse(time.RFC3339, i.at); err != nil {
			return q, cli.Fail(fmt.Errorf("--at %q is not a time", i.at), "write it as 2027-01-01T00:00:00Z, or now")
		}
	}
	return q, nil
}
