package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/outbound"
	"github.com/seawall-dev/seawall/edge/sim"
)

// simFlags are the flags of `seawall sim`.
type simFlags struct {
	sim.Config
	listen, seedFile, at  string
	listQuirks, printSeed bool
	logFormat, logLevel   string
}

func newSim(t *cli.Terminal) *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve a simulated Edge Platform",
		Long: `Serve the platform's API from memory, with the behaviour its reference documents:
accounts, zones, managed rulesets, entry points, envelopes, errors, paging and
rate limits. You can test any client of the platform against it. --profile selects
the calls: documented has those of the reference; extended adds the calls that
Seawall can use beyond it, on tokens, zones and deployments; vendor adds those of
the vendor's own API, is as strict as the vendor, and answers 501 to other calls.

The first line on standard output is JSON: {"base_url","rulesets_token","tokens_token"}.
The simulator follows the deprecation calendar by its own clock: a call is answered
before its end and not after it. --at sets the clock, which then runs on, so you
can run the tests of a client against next year. Quirks imitate misbehaviour of
real servers; --list-quirks explains them. The paths below /__sim/ show the
transcript of all requests and the state, make drift, set quirks and the clock.`,
		Example: `  seawall sim --listen 127.0.0.1:8787
  seawall sim --quirk patch=merge --quirk throttle=10
  seawall sim --at 2025-06-15 --quirk deprecation-headers
  seawall sim --profile vendor
  seawall sim --print-seed > seed.json && seawall sim --seed seed.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return simulate(t, cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 picks a free port")
	flags.StringVar(&f.BasePath, "base-path", sim.DefaultBasePath, "prefix of the paths of the API")
	flags.StringVar(&f.seedFile, "seed", "", "JSON `FILE` with accounts and zones; default: a few zones, see --print-seed")
	flags.StringVar(&f.Profile, "profile", mem.Documented, "which calls: documented, extended or vendor")
	flags.StringVar(&f.Vendor, "vendor", "", "vendor segment of resource keys (default: cloudflare with --profile vendor, else vendor)")
	flags.StringVar(&f.at, "at", "", "`DATE` at which the simulated clock starts, as 2027-01-31 or RFC 3339")
	flags.StringArrayVar(&f.Quirks, "quirk", nil, "`NAME[=VALUE]` of a misbehaviour to imitate (repeatable)")
	flags.BoolVar(&f.listQuirks, "list-quirks", false, "explain the quirks and exit")
	flags.BoolVar(&f.printSeed, "print-seed", false, "print the seed as JSON and exit")
	flags.BoolVar(&f.AllowRemoteControl, "allow-remote", false, "listen on addresses that other machines can reach; they can control the simulator")
	flags.BoolVar(&f.RateLimit.Off, "no-rate-limit", false, "do not limit the request rate")
	setup.AddLogFlags(cmd, &f.logFormat, &f.logLevel)
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(mem.Profiles(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("quirk", completeQuirk)
	_ = cmd.MarkFlagFilename("seed", "json")
	return cmd
}

// completeQuirk offers the quirks with what each does.
func completeQuirk(*cobra.Command, []string, string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // a value may follow
	for _, q := range sim.Quirks() {
		name, _, valued := strings.Cut(q.Usage(), "=")
		if valued {
			name += "="
		}
		words = append(words, cobra.CompletionWithDesc(name, q.Does))
	}
	return words, directive
}

func simulate(t *cli.Terminal, cmd *cobra.Command, f simFlags) error {
	if f.listQuirks {
		return listQuirks(t)
	}
	if !slices.Contains(mem.Profiles(), f.Profile) {
		return cli.Usage("--profile %q is not one of %s", f.Profile, strings.Join(mem.Profiles(), ", "))
	}
	var err error
	if f.Seed, err = readSeed(f.seedFile, f.Profile); err != nil {
		return err
	}
	if f.printSeed {
		return mem.WriteSeed(t.Out, f.Seed)
	}
	if f.Log, err = t.Logger(f.logFormat, f.logLevel); err != nil {
		return err
	}
	if f.Calendar, err = schema.Calendar(); err != nil {
		return err
	}
	if f.Vendor == "" && f.Profile == mem.Vendor { // the vendor's own platform has the vendor's own segment
		f.Vendor = "cloudflare"
	}
	f.Now = time.Now
	server, err := sim.New(f.Config)
	if err != nil {
		return cli.Fail(err, "seawall sim --list-quirks lists the quirks, --print-seed prints a seed")
	}
	if f.at != "" {
		at, err := parseDate(f.at)
		if err != nil {
			return err
		}
		server.SetClock(at)
	}
	listener, err := listen(cmd.Context(), f.listen, f.AllowRemoteControl)
	if err != nil {
		return err
	}
	if err := server.Greeting(listener.Addr()).Write(t.Out); err != nil {
		return err
	}
	return server.Serve(cmd.Context(), listener)
}

// maxSeed bounds the file of a seed, in bytes: some 100,000 zones.
const maxSeed = 256 << 20

func readSeed(path, profile string) (mem.Seed, error) {
	if path == "" {
		return mem.SeedFor(profile), nil
	}
	data, err := trusted.ReadSmall(path, maxSeed)
	if err != nil {
		return mem.Seed{}, cli.Fail(fmt.Errorf("--seed: %w", err), "seawall sim --print-seed prints an example")
	}
	seed, err := mem.ReadSeed(bytes.NewReader(data))
	if err != nil {
		const hint = "seawall sim --print-seed prints an example"
		if mistakes := strings.Split(err.Error(), "\n"); len(mistakes) > 1 {
			return mem.Seed{}, cli.FailLines(fmt.Errorf("%s has %d mistakes", path, len(mistakes)), mistakes, hint)
		}
		return mem.Seed{}, cli.Fail(fmt.Errorf("%s: %w", path, err), hint)
	}
	return seed, nil
}

// listen refuses addresses that other machines can reach unless that is wanted.
func listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cli.Usage("--listen %q is not an address like 127.0.0.1:8787", address)
	}
	if !remote && !outbound.Loopback(host) {
		return nil, cli.Fail(fmt.Errorf("--listen %s is reachable from other machines", address),
			"the simulator's tokens are public: add --allow-remote if that is what you want")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, cli.Fail(fmt.Errorf("--listen %s: %w", address, cli.NetworkCause(err)), "use port 0 to pick a free port")
	}
	return listener, nil
}

func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	return time.Time{}, cli.Usage("--at %q is neither a date like 2027-01-31 nor RFC 3339", s)
}

func listQuirks(t *cli.Terminal) error {
	var rows [][]string
	for _, q := range sim.Quirks() {
		rows = append(rows, []string{q.Usage(), q.Does}, []string{"", "imitates: " + q.Imitates})
	}
	return t.Table(rows)
}
