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

// OpenLedger opens the ledger of the configuration's state folder.
func (s Settings) OpenLedger(open func(string) (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	memory, err := open(filepath.Join(s.StateDir, "ledger.db"))
	if err != nil {
		return nil, Explain(err)
	}
	memory.Now, memory.User, memory.Keep = time.Now, Whoami(), s.historyBounds()
	memory.Binding = ledger.Binding{Platform: s.Platform.BaseURL, Repository: s.Source.URL}
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

// historyBounds are those of the configuration.
func (s Settings) historyBounds() history.Bounds {
	return history.Bounds{Keep: s.History.Keep, Bytes: s.History.Bytes}
}

// OfRepository reads the configuration of a command about tokens: they belong to a
// repository.
func OfRepository(t *cli.Terminal, o Options) (Settings, error) {
	config, err := loadConfig(t, o.ConfigFile(), true)
	return Settings{Config: config}, err
}

// WithLockedLedger opens the ledger and takes the lock of its tokens for as long as
// do works.
func (s Settings) WithLockedLedger(ctx context.Context, do func(*ledger.Ledger) error) error {
	owner, err := OwnerOfState(s.StateDir)
	if err != nil {
		return err
	}
	if err := MakeStateDir(s.StateDir); err != nil {
		return err
	}
	if err := s.besideDaemon(); err != nil {
		return err
	}
	memory, err := s.OpenLedger(ledger.Open)
	if err != nil {
		return err
	}
	if err = memory.LockTokens(); err == nil {
		err = token.QuarantineUnfinished(context.WithoutCancel(ctx), memory)
	}
	if err == nil {
		err = do(memory)
	}
	return errors.Join(err, memory.Close(), owner.GiveBack())
}

// WriteLedger opens the configured ledger for a word that needs no lock: a
// daemon may have it open as well.
func WriteLedger(t *cli.Terminal, o Options, do func(Settings, *ledger.Ledger) error) error {
	config, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return err
	}
	s := Settings{Config: config}
	owner, err := OwnerOfState(s.StateDir)
	if err != nil {
		return err
	}
	if err := MakeStateDir(s.StateDir); err != nil {
		return err
	}
	if err := s.besideDaemon(); err != nil {
		return err
	}
	memory, err := s.OpenLedger(ledger.Open)
	if err != nil {
		return err
	}
	return Explain(errors.Join(do(s, memory), memory.Close(), owner.GiveBack()))
}

// besideDaemon refuses to make a ledger where a daemon runs whose own is gone: what it knows
// is not in a new one.
func (s Settings) besideDaemon() error {
	path := filepath.Join(s.StateDir, "ledger.db")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whoever opens it says what is wrong with it
	}
	holder, running, err := ledger.Running(s.StateDir)
	if err != nil || !running {
		return Explain(err)
	}
	return cli.Fail(fmt.Errorf("%s is gone while a daemon runs: %s", path, holder), "nothing was changed; move the file back, or stop the daemon and restore a backup")
}

// ReadLedger opens the configured ledger to look into it.
func ReadLedger(t *cli.Terminal, o Options, do func(*ledger.Ledger) error) error {
	config, err := LoadConfig(t, o.ConfigFile())
	if err != nil {
		return err
	}
	return Settings{Config: config}.ReadLedger(do)
}

// ReadLedger opens the ledger of the state folder to look into it.
func (s Settings) ReadLedger(do func(*ledger.Ledger) error) error {
	memory, err := s.OpenLedger(ledger.OpenReadOnly)
	if err != nil {
		return err
	}
	return Explain(errors.Join(do(memory), memory.Close()))
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
