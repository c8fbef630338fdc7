package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/seal"
)

// TestSecretsAreNeverInTheClear greps all files of the state folder after every
// step, and after the delivery also for the sealed copy.
func TestSecretsAreNeverInTheClear(t *testing.T) {
	l, ctx := ready(t), t.Context()
	for n := range 50 { // enough that pages are split and used again
		mustConfirm(t, l, n)
		wantNowhere(t, l, "the secret", []byte(secret(n).Reveal()))
	}
	for n := range 50 {
		sealed := sealedCopy(t, l, record(n).Intent)
		_, err := l.Sealed(ctx, record(n).Intent)
		must(t, err)
		must(t, l.Delivered(ctx, record(n).Intent))
		for at := 0; at+16 <= len(sealed); at += 16 {
			if at < 40 {
				continue // "age-encryption.org/v1\n-> X25519 " begins all of them
			}
			wantNowhere(t, l, fmt.Sprintf("byte %d of the sealed copy", at), sealed[at:at+16])
		}
	}
	must(t, l.Close())
	for n := range 50 {
		wantNowhere(t, l, "the secret", []byte(secret(n).Reveal()))
	}
}

// TestGoneTakesTheSecretAlong: a sealed copy that nobody needs any more is
// nowhere in the state folder.
func TestGoneTakesTheSecretAlong(t *testing.T) {
	l, ctx := ready(t), t.Context()
	mustConfirm(t, l, 1)
	sealed := sealedCopy(t, l, record(1).Intent)
	must(t, l.Gone(ctx, record(1).Intent))
	wantNowhere(t, l, "the sealed copy", sealed[60:90])
}

// mustConfirm has the secret of a token wait.
func mustConfirm(t *testing.T, l *Ledger, n int) {
	t.Helper()
	must(t, l.Intend(t.Context(), record(n)))
	must(t, l.Confirm(t.Context(), record(n).Intent, "id", secret(n)))
}

func sealedCopy(t *testing.T, l *Ledger, intent string) (sealed []byte) {
	t.Helper()
	must(t, l.file.DB.QueryRow(`SELECT copy FROM sealed WHERE intent = ?`, intent).Scan(&sealed))
	return sealed
}

func wantNowhere(t *testing.T, l *Ledger, what string, text []byte) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(l.file.Path), func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, text) {
			t.Errorf("%s is in %s", what, filepath.Base(name))
		}
		return err
	})
	must(t, err)
}

// TestReaderKeepsTheLog: a reader in the midst of reading holds the log up, and
// whoever delivers must not fail for it. The next to lock the tokens cleans up.
func TestReaderKeepsTheLog(t *testing.T) {
	l, ctx := ready(t), t.Context()
	mustConfirm(t, l, 1)
	sealed := sealedCopy(t, l, record(1).Intent)
	must(t, l.Close())
	l = mustOpen(t, l.file.Path)
	mustLock(t, l)
	mustExec(t, l, `PRAGMA busy_timeout = 1`)
	reader := mustRead(t, l.file.Path)
	rows, err := reader.file.DB.QueryContext(context.Background(), `SELECT 1 FROM token`)
	must(t, err)
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	must(t, l.Delivered(ctx, record(1).Intent))
	must(t, errors.Join(rows.Close(), reader.Close(), l.UnlockTokens()))
	mustLock(t, l)
	wantNowhere(t, l, "the sealed copy", sealed[60:90])
}

// TestKeyFile: one is made where it is needed, for its owner alone, and one that
// is there is used.
func TestKeyFile(t *testing.T) {
	l := ready(t)
	path := l.file.Path + "-key"
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a key before the first need: %v", err)
	}
	must(t, l.Intend(t.Context(), record(1)))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	made, err := os.ReadFile(path)
	must(t, err)
	must(t, l.Close())
	must(t, seal.CreateKeyFile(path)) // as another process that is late
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(made, again) {
		t.Errorf("the key was replaced: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".key-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestKeysOfSeveralKinds: a configured file of two identities, of which the
// second one once sealed, and the identity that withstands quantum computers.
func TestKeysOfSeveralKinds(t *testing.T) {
	old, err := age.GenerateX25519Identity()
	must(t, err)
	next, err := age.GenerateHybridIdentity()
	must(t, err)
	path := filepath.Join(t.TempDir(), "keys")
	l := ready(t)
	for i, text := range []string{old.String(), next.String() + "\n# before: \n" + old.String()} {
		must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		must(t, l.Close())
		l = reopen(t, l.file.Path, binding)
		l.Seal = Seal{KeyFile: path}
		mustConfirm(t, l, i)
	}
	for i := range 2 {
		wantSealed(t, l, record(i).Intent, secret(i))
	}
}

// TestUnusableKeys: with none of these an attempt may begin, and no message
// shows a key.
func TestUnusableKeys(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	key := identity.String()
	folder := t.TempDir()
	file := func(name, text string, mode os.FileMode) Seal {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
		return Seal{KeyFile: path}
	}
	for name, test := range map[string]struct {
		seal   Seal
		kind   Kind
		reason string
	}{
		"readable by the group": {file("g", key, 0o640), ErrSeal, "is open to others than its owner (mode 0640)"},
		"readable by all":       {file("a", key, 0o604), ErrSeal, "is open to others than its owner (mode 0604)"},
		"no key":                {file("n", "# nothing", 0o600), ErrSeal, "has no age identity"},
		"broken key":            {file("b", key[:60], 0o600), ErrSeal, "has no age identity"},
		"recipient in the file": {file("r", identity.Recipient().String(), 0o600), ErrSeal, "has no age identity"},
		"folder":                {Seal{KeyFile: folder}, ErrSeal, "is not a regular file"},
		"no folder":             {Seal{KeyFile: filepath.Join(folder, "no", "key")}, ErrFailed, "no such file"},
		"both":                  {Seal{KeyFile: "/x", Recipient: "age1x"}, ErrSeal, "both a key file and a recipient"},
		"no recipient":          {Seal{Recipient: "age1x"}, ErrSeal, "is not an age recipient"},
		"key as recipient":      {Seal{Recipient: key}, ErrSeal, "is not an age recipient"},
	} {
		t.Run(name, func(t *testing.T) {
			l := ready(t)
			l.Seal = test.seal
			err := l.Intend(t.Context(), record(1))
			wantFault(t, err, test.kind, test.reason)
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), key[20:40]) {
				t.Error("the message shows the key")
			}
			wantTokens(t, l)
		})
	}
}

// TestRecipient: what is sealed for another can be opened by him, and by nobody
// here.
func TestRecipient(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	l, r := ready(t), record(1)
	l.Seal.Recipient = identity.Recipient().String()
	mustConfirm(t, l, 1)
	_, err = l.Sealed(t.Context(), r.Intent)
	wantFault(t, err, ErrSeal, "sealed for a recipient")
	sealed := sealedCopy(t, l, record(1).Intent)
	plain, err := age.Decrypt(bytes.NewReader(sealed), identity)
	must(t, err)
	if opened, err := io.ReadAll(plain); err != nil || string(opened) != r.Intent+"\n"+secret(1).Reveal() {
		t.Errorf("the recipient cannot open it: %v", err)
	}
	must(t, l.Delivered(t.Context(), r.Intent)) // by hand
	if _, err := os.Stat(l.file.Path + "-key"); !os.IsNotExist(err) {
		t.Errorf("a key was made: %v", err)
	}
}

// TestSecretsThatDoNotOpen: the ways in which a sealed copy and its key part.
func TestSecretsThatDoNotOpen(t *testing.T) {
	first := record(1)
	sealedTwo := func(t *testing.T) *Ledger {
		l := ready(t)
		mustConfirm(t, l, 1)
		mustConfirm(t, l, 2)
		return l
	}
	for name, test := range map[string]struct {
		query  string
		kind   Kind
		reason string
	}{
		"damaged": {`UPDATE sealed SET copy = CAST(substr(copy, 1, length(copy) - 1) || x'00' AS BLOB)`, ErrDamaged, "the sealed secret of attempt 0000000000000001"},
		"cut":     {`UPDATE sealed SET copy = substr(copy, 1, 100)`, ErrDamaged, "the sealed secret"},
		"empty":   {`UPDATE sealed SET copy = x''`, ErrDamaged, "the sealed secret"},
		"swapped": {`UPDATE sealed SET copy = (SELECT copy FROM sealed WHERE intent = '0000000000000002')`, ErrDamaged, "the sealed secret"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sealedTwo(t)
			mustExec(t, l, test.query)
			_, err := l.Sealed(t.Context(), first.Intent)
			wantFault(t, err, test.kind, test.reason)
		})
	}
	t.Run("another key", func(t *testing.T) {
		l := sealedTwo(t)
		must(t, l.Close())
		l = reopen(t, l.file.Path, binding)
		l.Seal.KeyFile = filepath.Join(t.TempDir(), "key")
		must(t, seal.CreateKeyFile(l.Seal.KeyFile))
		_, err := l.Sealed(t.Context(), first.Intent)
		wantFault(t, err, ErrSeal, "it was sealed with another key")
	})
	t.Run("no key", func(t *testing.T) {
		l := sealedTwo(t)
		must(t, l.Close())
		l = reopen(t, l.file.Path, binding)
		must(t, os.Remove(l.file.Path+"-key"))
		_, err := l.Sealed(t.Context(), first.Intent)
		wantFault(t, err, ErrSeal, "is missing, but 2 secrets in the ledger need it")
		wantFault(t, l.Intend(t.Context(), record(3)), ErrSeal, "is missing")
	})
}
