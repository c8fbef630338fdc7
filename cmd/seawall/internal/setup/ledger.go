package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// OpenLedger opens the ledger of the configuration for reading and writing: the database, or the
// file in the state folder.
func (s Settings) OpenLedger(ctx context.Context) (*ledger.Ledger, error) {
	return s.openLedger(ctx, false, ledger.Open)
}

// OpenLedgerReadOnly opens it beside whoever writes to it.
func (s Settings) OpenLedgerReadOnly(ctx context.Context) (*ledger.Ledger, error) {
	return s.openLedger(ctx, true, ledger.OpenReadOnly)
}

func (s Settings) openLedger(ctx context.Context, readOnly bool, file func(string) (*ledger.Ledger, error)) (memory *ledger.Ledger, err error) {
	if s.InPostgres() {
		memory, err = s.connectLedger(ctx, readOnly)
	} else {
		memory, err = file(s.LedgerPath())
	}
	if err != nil {
		return nil, err
	}
	memory.Now, memory.User, memory.Keep = time.Now, Whoami(), history.Bounds{Keep: s.History.Keep, Bytes: s.History.Bytes}
	memory.Binding = ledger.Binding{Platform: s.Platform.BaseURL, Repository: s.Source.URL}
	if s.InPostgres() && s.StateDir != "" {
		if memory.Seen, err = s.seenFile(ctx, memory, readOnly); err != nil {
			return nil, errors.Join(s.DatabaseError(err), memory.Close())
		}
	}
	memory.Seal = ledger.Seal{KeyFile: s.Seal.KeyFile, Recipient: s.Seal.Recipient}
	return memory, nil
}

// MakeStateDir creates the state folder where there is none.
func MakeStateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cli.Fail(fmt.Errorf("state.dir: the folder %s cannot be created: %w", dir, err),
			"create it for the user that runs Seawall: sudo install -d -m 700 -o USER "+dir,
			"or set state.dir in the configuration to a folder that this user may create")
	}
	return nil
}

// WithLockedLedger opens the ledger and takes the lock of its tokens for as long as
// do works.
func (s Settings) WithLockedLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	return s.writeLedger(ctx, func(memory *ledger.Ledger) error {
		err := memory.LockTokens(ctx)
		if err == nil {
			err = token.QuarantineUnfinished(context.WithoutCancel(ctx), memory)
		}
		if err == nil {
			err = do(memory)
		}
		return err
	})
}

// WriteLedger opens the configured ledger for a word that needs no lock: a
// daemon may have it open as well.
func WriteLedger(ctx context.Context, t *cli.Terminal, o Options, do func(Settings, *ledger.Ledger) error) error {
	s, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return err
	}
	return s.writeLedger(ctx, func(memory *ledger.Ledger) error { return do(s, memory) })
}

// writeLedger opens the ledger to write to it. The files of the state folder stay those of
// its owner; a ledger in PostgreSQL has one there, which says what was written last.
func (s Settings) writeLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	if s.InPostgres() {
		memory, err := s.OpenLedger(ctx)
		if err != nil {
			return err
		}
		return errors.Join(do(memory), memory.Close(), rootsOwner(s.StateDir).GiveBack())
	}
	owner, err := OwnerOfState(s.StateDir)
	if err != nil {
		return err
	}
	if err := MakeStateDir(s.StateDir); err != nil {
		return err
	}
	if err := besideDaemon(s.StateDir); err != nil {
		return err
	}
	memory, err := s.OpenLedger(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(memory), memory.Close(), owner.GiveBack())
}

// besideDaemon refuses to make a ledger where a daemon runs whose own is gone: what it knows
// is not in a new one.
func besideDaemon(dir string) error {
	path := filepath.Join(dir, "ledger.db")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whoever opens it says what is wrong with it
	}
	holder, running, err := ledger.Running(dir)
	if err != nil || !running {
		return err
	}
	return cli.Fail(fmt.Errorf("%s is gone while a daemon runs: %s", path, holder), "nothing was changed; move the file back, or stop the daemon and restore a backup")
}

// ReadLedger opens the configured ledger to look into it.
func ReadLedger(ctx context.Context, t *cli.Terminal, o Options, do func(*ledger.Ledger) error) error {
	s, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return err
	}
	return s.ReadLedger(ctx, do)
}

// ReadLedger opens the ledger to look into it.
func (s Settings) ReadLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	memory, err := s.OpenLedgerReadOnly(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(memory), memory.Close())
}

// Whoami names the person at the terminal, for the record. It proves nothing.
func Whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}
