package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func newState(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:     "state",
		Short:   "Move the ledger to PostgreSQL, or back",
		Long:    `The ledger is a file in state.dir, or tables in PostgreSQL that several daemons share.`,
		Example: `  seawall state migrate --to postgres --dry-run`,
	}, newStateMigrate(t))
}

// migration is one move of the ledger.
type migration struct {
	setup.Options
	to, from string
	dryRun   bool
}

func newStateMigrate(t *cli.Terminal) *cobra.Command {
	var m migration
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the ledger from its file to PostgreSQL, or back",
		Long: `Move the whole ledger: tokens, secrets that wait for their sink, holds, approvals, waves,
history and the rest. No daemon may run, on any machine. Each table is read again and
compared with what was copied, and the chain of the history is checked.

--to postgres moves to the database of state.postgres in the configuration; an address
(postgres://USER@HOST/DATABASE) names another, whose password is read from PGPASSWORD.
The database must be empty. From the beginning of the move, nothing opens the file as a
ledger; the file stays where it is.

--to file moves back. The database comes from state.postgres, or from --from.

A move that was interrupted is run again. One that has not reached the database is taken
back with --to file. --dry-run copies and compares everything, and keeps nothing.

The key that seals secrets is not moved: every machine needs the same one (see
docs/several-machines.md).`,
		Example: `  seawall state migrate --to postgres --dry-run
  seawall state migrate --to postgres://seawall@db.example/seawall
  seawall state migrate --to file --from postgres://seawall@db.example/seawall`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context(), t) },
	}
	setup.AddConfig(cmd, &m.Options)
	cmd.Flags().StringVar(&m.to, "to", "", "`PLACE`: postgres, an address postgres://…, or file")
	cmd.Flags().StringVar(&m.from, "from", "", "`ADDRESS` of the database that --to file reads, instead of state.postgres")
	cmd.Flags().BoolVar(&m.dryRun, "dry-run", false, "copy and compare, and keep nothing")
	cli.AddOutput(cmd, &m.Output, "text", "json")
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{toPostgres, toFile}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// The values of --to beside addresses.
const (
	toPostgres = "postgres"
	toFile     = "file"
	toHint     = "--to postgres moves the ledger to state.postgres of the configuration, --to file moves it back"
)

func (m *migration) run(ctx context.Context, t *cli.Terminal) error {
	s, err := setup.LoadConfig(t, m.ConfigFile())
	if err != nil {
		return err
	}
	place, err := m.database(s)
	if err != nil {
		return err
	}
	owner, err := setup.OwnerOfState(s.StateDir)
	if err != nil {
		return err
	}
	release, err := ledger.LockState(s.StateDir)
	if err != nil {
		return err
	}
	defer release()
	db, err := openDatabase(ctx, place)
	if err != nil {
		return err
	}
	defer db.Close()
	report, err := m.move(ctx, t, s, db, place)
	if err = errors.Join(err, owner.GiveBack()); err != nil {
		return err
	}
	return t.Show(m.Output, migrated{1, m.dryRun, m.to == toFile, s.LedgerPath(), place.Place(), report}, func() error {
		return m.text(t, s, place, report)
	})
}

// migrated is the JSON form of a move.
type migrated struct {
	Version  int    `json:"version"`
	DryRun   bool   `json:"dry_run"`
	ToFile   bool   `json:"to_file"`
	File     string `json:"file"`
	Database string `json:"database"`
	ledger.MoveReport
}

// database is the one that is moved to, or from.
func (m *migration) database(s setup.Settings) (schema.Postgres, error) {
	address := m.to
	switch {
	case m.to == "":
		return schema.Postgres{}, cli.Fail(errors.New("--to is missing"), toHint)
	case m.to != toFile && m.from != "":
		return schema.Postgres{}, cli.Fail(errors.New("--from is only for --to file"), "the file is that of state.dir")
	case m.to == toFile:
		address = m.from
	case m.to == toPostgres:
		address = ""
	}
	have := s.Postgres
	if address == "" {
		if have == nil {
			return schema.Postgres{}, cli.Fail(errors.New("the configuration has no state.postgres"), "add it, or give the address: postgres://USER@HOST/DATABASE")
		}
		return *have, nil
	}
	given, problem, ok := schema.ParsePostgres(address)
	if !ok {
		flag := "--to"
		if m.to == toFile {
			flag = "--from"
		}
		if m.to != toFile && !strings.Contains(address, "://") {
			return given, cli.Fail(fmt.Errorf("--to %q is not postgres, file or an address", address), toHint+"; an address is postgres://USER@HOST/DATABASE")
		}
		return given, cli.Fail(fmt.Errorf("%s: %s", flag, strings.Replace("the address "+problem.Message, "the address the configuration", "the address", 1)), addressHint(problem.Hint))
	}
	if have != nil && have.SameAs(given) {
		return *have, nil // with its password and its authorities
	}
	return given, nil
}

// addressHint is a hint about the configuration for an address that is given on a command line.
func addressHint(hint string) string {
	if strings.Contains(hint, "state.postgres.") {
		return "set state.postgres in the configuration, and use --to postgres; a password on a command line is seen by others"
	}
	return hint
}

// openDatabase connects, and brings the tables up to date.
func openDatabase(ctx context.Context, p schema.Postgres) (*sql.DB, error) {
	db, err := postgres.Open(setup.PostgresConfig(p))
	if err == nil {
		err = postgres.Migrate(ctx, db)
	}
	if err != nil {
		return nil, ledger.Explain("opening", p.Place(), err)
	}
	return db, nil
}

func (m *migration) move(ctx context.Context, t *cli.Terminal, s setup.Settings, db *sql.DB, place schema.Postgres) (ledger.MoveReport, error) {
	home := s.LedgerPath()
	if host, err := os.Hostname(); err == nil {
		home += " on " + host
	}
	move := ledger.Move{
		File: s.LedgerPath(), Home: home, DB: db, Place: place.Place(), Now: time.Now, DryRun: m.dryRun,
		Binding: ledger.Binding{Platform: s.Platform.BaseURL, Repository: s.Source.URL},
	}
	if m.Output == "text" {
		move.Progress = func(table string, rows int64) {
			if rows > 0 {
				fmt.Fprintf(t.Err, "%s: %s, the same\n", table, cli.Plural(int(rows), "row", "rows"))
			}
		}
	}
	if m.to == toFile {
		return move.ToFile(ctx)
	}
	return move.ToPostgres(ctx)
}

// text says what was done, and what is still to do.
func (m *migration) text(t *cli.Terminal, s setup.Settings, place schema.Postgres, r ledger.MoveReport) error {
	from, to := s.LedgerPath(), place.Place()
	if m.to == toFile {
		from, to = to, from
	}
	var rows int64
	for _, table := range r.Tables {
		rows += table.Rows
	}
	switch {
	case r.Already && m.to == toFile:
		fmt.Fprintf(t.Out, "the ledger is in %s; nothing was to be moved\n", to)
	case r.Already:
		fmt.Fprintf(t.Out, "the ledger is in %s already\n", to)
	case m.dryRun:
		fmt.Fprintf(t.Out, "dry run: the ledger can be moved from %s to %s: %s, %s; nothing was changed\n", from, to, cli.Plural(len(r.Tables), "table", "tables"), cli.Plural(int(rows), "row", "rows"))
	default:
		fmt.Fprintf(t.Out, "the ledger was moved from %s to %s: %s, %s; the head of the history is %s\n", from, to, cli.Plural(len(r.Tables), "table", "tables"), cli.Plural(int(rows), "row", "rows"), r.Head)
	}
	if !r.Already && !r.Tokens {
		fmt.Fprintln(t.Out, "tokens are unknown there, as they were before: see seawall token init")
	}
	if m.dryRun || r.Already {
		return nil
	}
	for _, hint := range m.next(s, place, r) {
		t.Hint(hint)
	}
	return nil
}

// next is what a person does after a move.
func (m *migration) next(s setup.Settings, place schema.Postgres, r ledger.MoveReport) (hints []string) {
	if m.to == toFile {
		return []string{"take state.postgres out of the configuration, and start one daemon on this machine"}
	}
	if s.Postgres == nil || s.Postgres.Place() != place.Place() {
		hints = append(hints, fmt.Sprintf("add to the configuration of each machine: state: postgres: url: %q", place.URL))
	}
	if keyMissing(s.Seal) {
		waiting := "secrets"
		if r.Sealed > 0 {
			waiting = cli.Plural(int(r.Sealed), "secret that waits for its sink", "secrets that wait for their sink")
		}
		copied := "copy it to each machine and set state.seal.key_file to it"
		if s.Seal.KeyFile != "" {
			copied = "copy it to " + s.Seal.KeyFile + " on each machine"
		}
		hints = append(hints, fmt.Sprintf("the key that opens %s stays in %s-key: %s", waiting, s.LedgerPath(), copied))
	}
	return append(hints, "then start the daemons: seawall run")
}

// keyMissing reports whether the configuration names no key, or one that is not there.
func keyMissing(s schema.Seal) bool {
	if s.KeyFile == "" {
		return s.Recipient == ""
	}
	_, err := os.Stat(s.KeyFile)
	return errors.Is(err, fs.ErrNotExist)
}
