package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// Free space in a state folder, in bytes, below which a person should act, or below
// which the ledger cannot be relied on to grow.
const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (d *diagnosis) stateFolder(ctx context.Context, f *findings) {
	const name = "state folder"
	if d.StateDir == "" {
		dir, err := setup.UserState()
		if err != nil {
			f.warn(name, "the request budget is not shared with other runs: "+err.Error(), "set XDG_STATE_HOME to a folder of your own")
			return
		}
		f.ok(name, "%s, for the request budget alone", dir)
		return
	}
	info, err := os.Stat(d.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.warn(name, d.StateDir+" does not exist", "the daemon creates it at its first start; to create it yourself: mkdir -m 700, then chown to the daemon's user")
		return
	case err != nil:
		f.fail(name, err)
		return
	case !info.IsDir():
		f.fail(name, fmt.Errorf("%s is not a folder", d.StateDir), "set state.dir to a folder that only Seawall uses")
		return
	}
	d.owner(info, f)
	d.space(f)
	holder, running, err := ledger.Running(d.StateDir)
	switch {
	case err != nil:
		f.warn("daemon", err.Error(), cli.HintsOf(err)...)
	case running:
		f.ok("daemon", "runs: %s", holder)
	default:
		f.ok("daemon", "none uses this state folder on this host")
	}
	if open := setup.Exposed(d.StateDir); len(open) > 0 {
		f.warn("state files", strings.Join(open, ", ")+": others may read them, or connect", setup.CloseState(d.StateDir, open))
	}
	d.ledger(ctx, running, f)
}

func (d *diagnosis) owner(info fs.FileInfo, f *findings) {
	uid, _, _, known := setup.OwnerOf(info)
	text := fmt.Sprintf("%s, mode %04o", d.StateDir, info.Mode().Perm())
	if known {
		text += ", of " + setup.UserName(uid)
	}
	switch me := os.Geteuid(); {
	case known && me != uid && me != 0:
		f.fail("state folder", fmt.Errorf("%s; this is %s", text, setup.UserName(me)), "run as the user that the daemon runs as: sudo -u "+setup.UserName(uid)+" seawall doctor")
	case info.Mode().Perm()&0o077 != 0:
		f.warn("state folder", text+": others may read it", "chmod 700 "+d.StateDir)
	case known && me != uid:
		f.warn("state folder", text+"; this is root, so the check cannot show what the daemon may read", "sudo -u "+setup.UserName(uid)+" seawall doctor")
	default:
		f.ok("state folder", "%s", text)
	}
}

func (d *diagnosis) space(f *findings) {
	free, err := setup.FreeBytes(d.StateDir)
	switch {
	case err != nil:
		f.warn("disk", "the free space is not known: "+err.Error())
	case free < noSpace:
		f.fail("disk", fmt.Errorf("%d MB are free where the state folder is", free>>20), "free some space: without it nothing is written to the platform")
	case free < littleSpace:
		f.warn("disk", fmt.Sprintf("%d MB are free where the state folder is", free>>20), "free some space")
	default:
		f.ok("disk", "%d GB are free where the state folder is", free>>30)
	}
}

func (d *diagnosis) ledger(ctx context.Context, running bool, f *findings) {
	memory, err := d.OpenLedgerReadOnly(ctx)
	if f.failed("ledger", err) {
		return
	}
	defer memory.Close()
	gaps, err := memory.Gaps(ctx)
	if f.failed("ledger", err) {
		return
	}
	for _, gap := range gaps {
		f.fail("history", errors.New(setup.GapText(gap)+"; "+setup.LostEntries), setup.AcceptGap)
	}
	switch missing := memory.Missing(); {
	case missing != "" && running:
		f.fail("ledger", fmt.Errorf("%s is gone while a daemon runs: it writes nothing to the platform", missing), "move the file back; or stop the daemon and restore a backup")
		return
	case missing != "" && len(gaps) > 0:
		return
	case missing != "":
		f.warn("ledger", "there is none", "seawall run and seawall apply create it; if they have run, they had another state.dir, or it was deleted: restore a backup then")
		return
	}
	recalled, err := memory.Restore(ctx)
	if f.failed("ledger", err) {
		return
	}
	f.ok("ledger", "%s on record", cli.Plural(len(recalled.Applied), "deployment", "deployments"))
	if d.Credentials.Tokens == nil {
		return
	}
	switch live, err := memory.Tokens(ctx); {
	case err != nil:
		f.fail("ledger", err)
	case live.Unknown != "":
		f.warn("tokens on record", "no token is created: "+live.Unknown, live.Hint)
	}
}
