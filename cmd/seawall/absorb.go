package main

import (
	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/importer"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
)

func newAbsorb(t *cli.Terminal) *cobra.Command {
	var f importFlags
	var dry bool
	cmd := &cobra.Command{
		Use:   "absorb ZONE",
		Short: "Change desired state to what is live in a zone",
		Long: `Change the CUE files of a working copy so that they declare what is live in a zone,
for a change that was made by hand, in an incident for example. The difference is
printed; with --dry-run nothing is written. Commit it, and have it reviewed.

Only the zone changes. A value that is declared in the zone is edited in its place,
with comments and format kept. Where a value comes from a tier or a default that other
zones share, the zone gets an exception, and a note says where the shared value is. If
the shared value allows no exception, nothing is written, and the error names its place.

Members that the deployment keeps (unmanaged, keep) stay undeclared. Before anything is
written, the files are evaluated: they must be valid, a plan of the zone must be empty,
and every other zone and token must be declared as before. Only reads are sent.

Exit codes: 0 done, or nothing differs; 1 failure.`,
		Example: "  seawall absorb shop.example\n  seawall absorb shop.example --dir my-edge --dry-run",
		Args:    oneZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Order.Dir = f.Options.Dir
			platform, _, done, err := f.platform(t)
			if err != nil {
				return err
			}
			defer done()
			return importer.Absorb(cmd.Context(), t, platform, f.Options.Dir, args[0], dry)
		},
	}
	flags := cmd.Flags()
	setup.AddConfig(cmd, &f.Options)
	flags.StringVar(&f.Options.Dir, "dir", ".", "the working copy: `DIR` with the CUE files")
	f.addPlatform(cmd)
	flags.BoolVar(&dry, "dry-run", false, "print the difference and write nothing")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}
