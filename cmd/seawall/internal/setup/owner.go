package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
)

// stateOwner sees to it that the files of a state folder stay those of its owner, whom
// the daemon runs as. The zero value has nothing to do.
type stateOwner struct {
	dir      string
	uid, gid int
}

// OwnerOfState checks, before anything is touched, that this process may leave files in
// a state folder that the folder's owner can read: it runs as the owner, or as root,
// which gives them away when it is done. A folder that is not there is no matter.
func OwnerOfState(dir string) (stateOwner, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return stateOwner{}, nil //nolint:nilerr // who opens the folder reports what is wrong with it
	}
	uid, gid, _, known := OwnerOf(info)
	me := os.Geteuid()
	switch {
	case !known || me == uid || !info.IsDir():
		return stateOwner{}, nil
	case me != 0:
		return stateOwner{}, cli.Fail(fmt.Errorf("the state folder %s belongs to %s, and this is %s", dir, UserName(uid), UserName(me)),
			"nothing was changed; run the command as the daemon's user: sudo -u "+UserName(uid)+" seawall …")
	}
	if err := os.Lchown(dir, uid, gid); err != nil { // changes nothing, and shows whether it may
		return stateOwner{}, cli.Fail(fmt.Errorf("root may not give files to %s, the owner of the state folder %s: %w", UserName(uid), dir, err),
			"nothing was changed; run the command as that user: sudo -u "+UserName(uid)+" seawall …")
	}
	return stateOwner{dir, uid, gid}, nil
}

// GiveBack gives what root owns in the folder to the folder's owner. It follows no
// link, and leaves files alone that have another name elsewhere.
func (o stateOwner) GiveBack() error {
	if o.dir == "" {
		return nil
	}
	root, err := os.OpenRoot(o.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var failed error
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			failed = errors.Join(failed, err)
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // a file of a process that runs beside
			return nil
		}
		if err != nil {
			failed = errors.Join(failed, err)
			return nil
		}
		uid, _, links, _ := OwnerOf(info)
		if uid != 0 || links > 1 && !info.IsDir() {
			return nil
		}
		if err := root.Lchown(path, o.uid, o.gid); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
		return nil
	})
	if err = errors.Join(err, failed); err != nil {
		return cli.Fail(fmt.Errorf("giving files to %s, the owner of the state folder: %w", UserName(o.uid), err),
			fmt.Sprintf("the daemon may not be able to read them: chown -R %d:%d %s", o.uid, o.gid, o.dir))
	}
	return nil
}

// UserName is how a user is called, or the number where it has no name.
func UserName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return "#" + strconv.Itoa(uid)
}

// KeepOwner is [OwnerOfState] for a run, which shows what it could not give back and
// goes on; an empty folder is none.
func KeepOwner(t *cli.Terminal, dir string) (giveBack func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	owner, err := OwnerOfState(dir)
	return func() {
		if err := owner.GiveBack(); err != nil {
			t.ShowError(err)
		}
	}, err
}

// exposable are the files of a state folder that are its owner's alone.
var exposable = []string{
	"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-head", "ledger.db-mark", "ledger.db-key", "status.sock",
}

// Exposed returns the files of a state folder that other users can read, or connect to; none
// where they cannot enter the folder. Files that they may write to are refused where they
// are opened.
func Exposed(dir string) (names []string) {
	if info, err := os.Stat(dir); err != nil || forOthers(info)&0o011 == 0 {
		return nil
	}
	for _, name := range exposable {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && forOthers(info) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// forOthers are the bits of a mode that let others in. A group that has the number of the
// owner, or of this process, is that user's own.
func forOthers(info fs.FileInfo) fs.FileMode {
	mode := info.Mode().Perm() & 0o077
	if uid, gid, _, known := OwnerOf(info); known && (gid == uid || gid == os.Getegid()) {
		return mode & 0o007
	}
	return mode
}

// CloseState is the command that closes exposed files, and the folder with them.
func CloseState(dir string, names []string) string {
	command := "chmod 600"
	for _, name := range names {
		command += " " + cli.Quoted(filepath.Join(dir, name))
	}
	return command + " && chmod 700 " + cli.Quoted(dir)
}
