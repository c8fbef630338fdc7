package main

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/importer"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired/gitrepo"
)

// absorbFlags are those of seawall absorb.
type absorbFlags struct {
	importFlags
	dry             bool
	branch, message string
}

func newAbsorb(t *cli.Terminal) *cobra.Command {
	var f absorbFlags
	cmd := &cobra.Command{
		Use:   "absorb ZONE",
		Short: "Change desired state to what is live in a zone",
		Long: `Change the CUE files of a working copy so that they declare what is live in a zone,
for a change that was made by hand, in an incident for example. The difference is
printed; with --dry-run nothing is written. Commit it, and have it reviewed.

With --branch no working copy is needed, and none is changed. The change is made on the
newest commit of the configured repository, and pushed as one commit on a new branch,
with the git credential of the configuration (source.auth), which must be allowed to
push. The author is that of your git configuration, or of GIT_AUTHOR_NAME and
GIT_AUTHOR_EMAIL. The commit is not signed.

Only the zone changes. A value that is declared in the zone is edited in its place,
with comments and format kept. Where a value comes from a tier or a default that other
zones share, the zone gets an exception, and a note says where the shared value is. If
the shared value allows no exception, nothing is written, and the error names its place.

Skip rules that keep requests from a deployment are accepted as they are now: those that
nobody has accepted get the owner "TODO", those that were accepted as something else keep
their owner and their end.

Members that the deployment keeps (unmanaged, keep) stay undeclared. Before anything is
written, the files are evaluated: they must be valid, a plan of the zone must be empty,
and every other zone and token must be declared as before. The platform is only read.

Exit codes: 0 done, or nothing differs; 1 failure.`,
		Example: `  seawall absorb shop.example
  seawall absorb shop.example --dir my-edge --dry-run
  seawall absorb shop.example --config config.cue --branch absorb-shop`,
		Args:              oneZone,
		ValidArgsFunction: setup.CompleteZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.branch != "" && cmd.Flags().Changed("dir") {
				return cli.Fail(errors.New("--branch changes no working copy, so it does not go with --dir"), "leave one of the two out")
			}
			return runAbsorb(t, cmd, f, args[0])
		},
	}
	flags := cmd.Flags()
	setup.AddConfig(cmd, &f.Options)
	f.Options.AddDir(cmd, ".", "the working copy: `DIR` with the CUE files")
	f.AddPlatform(cmd)
	flags.BoolVar(&f.dry, "dry-run", false, "print the difference and write nothing")
	flags.StringVar(&f.branch, "branch", "", "push the change as the new branch `NAME` of the configured repository")
	flags.StringVar(&f.message, "message", "", "`TEXT` of the commit, with --branch")
	return cmd
}

func runAbsorb(t *cli.Terminal, cmd *cobra.Command, f absorbFlags, zone string) error {
	if f.branch == "" {
		f.Order.Dir = f.Options.Dir
	}
	platform, s, reading, err := f.platform(t)
	if err != nil {
		return err
	}
	defer reading.Close()
	if f.branch == "" {
		return importer.Absorb(cmd.Context(), t, platform, importer.WorkingCopy(t, f.Options.Dir, f.dry), zone)
	}
	repository, err := setup.OpenRepository(s.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer repository.Close()
	name, email := gitrepo.Identity()
	who := setup.Whoami()
	return importer.AbsorbToBranch(cmd.Context(), t, platform, repository, importer.Branch{
		Name: f.branch, Message: f.message, URL: s.Source.URL, Ref: s.Source.Ref, Path: s.Source.Path, DryRun: f.dry,
		Author: gitrepo.Author{Name: cmp.Or(name, who), Email: cmp.Or(email, who), When: time.Now()},
	}, zone)
}
