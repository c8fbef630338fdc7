// Package seal seals the secrets of tokens while they wait for their sink.
package seal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Seal says for whom the secrets of tokens are sealed while they wait for their
// sink. At most one of its fields is set.
type Seal struct {
	// KeyFile holds an age identity (AGE-SECRET-KEY-1…), readable by its owner
	// alone. Where there is none it is created before the first attempt; empty is
	// the ledger's own path with "-key" behind it. Of several identities in one
	// file the first one seals and all of them open, so that keys can be changed.
	KeyFile string
	// Recipient is an age recipient (age1…). What is sealed for it can be opened
	// by whoever has its identity, and not by this program: secrets that their
	// sink did not take at once are then for that person to fetch.
	Recipient string
}

// Keys are what a Seal comes to.
type Keys struct {
	recipient  age.Recipient
	identities []age.Identity // none where only a recipient is known
}

// Prints tell keys apart, the one that seals first, and are none of them: who knows one learns nothing of
// its key.
func (k *Keys) Prints() (prints []string) {
	all := []any{k.recipient}
	for _, identity := range k.identities {
		switch i := identity.(type) {
		case *age.X25519Identity:
			all = append(all, i.Recipient())
		case *age.HybridIdentity:
			all = append(all, i.Recipient())
		}
	}
	for _, recipient := range all {
		mac := hmac.New(sha256.New, fmt.Append(nil, recipient))
		mac.Write([]byte("the key of a seal of Seawall"))
		fingerprint := hex.EncodeToString(mac.Sum(nil)[:16])
		if !slices.Contains(prints, fingerprint) {
			prints = append(prints, fingerprint)
		}
	}
	return prints
}

// Ring loads the keys of a ledger when they are first needed. It is safe for concurrent use.
type Ring struct {
	file *store.File

	mu     sync.Mutex
	loaded *Keys // nil: not needed yet
}

// NewRing returns the ring of a ledger.
func NewRing(file *store.File) *Ring { return &Ring{file: file} }

// Load loads what secrets are sealed with. Where a key file is missing it
// creates one, unless a secret waits that only the missing one opens.
func (r *Ring) Load(ctx context.Context, by Seal) (*Keys, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded != nil {
		return r.loaded, nil
	}
	loaded, err := r.load(ctx, by)
	if err != nil {
		return nil, err
	}
	r.loaded = loaded
	return loaded, nil
}

func (r *Ring) load(ctx context.Context, by Seal) (*Keys, error) {
	path, shared := by.KeyFile, r.file.Database() != nil
	if path == "" && !shared {
		path = r.file.Path + "-key"
	}
	switch {
	case by.KeyFile != "" && by.Recipient != "":
		return nil, store.Fault(store.ErrSeal, "both a key file and a recipient are set")
	case by.Recipient != "":
		return recipientOnly(by.Recipient)
	case path == "":
		return nil, sharedKey("no key is set")
	default:
		loaded, err := readKeyFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return loaded, err
		}
		if shared {
			return nil, sharedKey(path + " is missing")
		}
		if err := r.mayCreateKey(ctx, path); err != nil {
			return nil, err
		}
		if err := CreateKeyFile(path); err != nil {
			return nil, err
		}
		return readKeyFile(path)
	}
}

// sharedKey refuses to make up a key where several machines have the ledger: each opens what another
// has sealed.
func sharedKey(reason string) error {
	return store.Fault(store.ErrSeal, reason)
}

func (r *Ring) mayCreateKey(ctx context.Context, path string) error {
	var waiting int
	if err := r.file.DB.QueryRowContext(ctx, `SELECT count(*) FROM sealed`).Scan(&waiting); err != nil || waiting == 0 {
		return err
	}
	return store.Fault(store.ErrSeal, fmt.Sprintf("%s is missing, but %d secrets in the ledger need it", path, waiting))
}

func recipientOnly(text string) (*Keys, error) {
	recipients, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil || len(recipients) != 1 {
		// The text is not shown: it may be an identity, put in the wrong place.
		return nil, store.Fault(store.ErrSeal, "the recipient is not an age recipient (age1…)")
	}
	return &Keys{recipient: recipients[0]}, nil
}

func readKeyFile(path string) (*Keys, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, store.Fault(store.ErrSeal, path+" is not a regular file")
	case mode.Perm()&0o077 != 0:
		return nil, &store.Error{
			Kind: store.ErrSeal, Reason: fmt.Sprintf("%s is open to others than its owner (mode %04o)", path, mode.Perm()),
			Hint: "chmod 600 " + path + "; if others may have read it: wait until no secret is pending, then move it away, and Seawall creates a new one",
		}
	}
	identities, err := age.ParseIdentities(file)
	if err != nil { // what age says of it is not passed on: it is about a secret
		return nil, store.Fault(store.ErrSeal, path+" has no age identity (AGE-SECRET-KEY-1…)")
	}
	switch first := identities[0].(type) {
	case *age.X25519Identity:
		return &Keys{first.Recipient(), identities}, nil
	case *age.HybridIdentity:
		return &Keys{first.Recipient(), identities}, nil
	}
	return nil, store.Fault(store.ErrSeal, path+" starts with an identity of an unknown type")
}

// CreateKeyFile makes a key, whole or not at all, and never over another.
func CreateKeyFile(path string) (err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".key-*.new") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = fmt.Fprintf(file, "# Decrypts the waiting secrets in Seawall's ledger. Keep it, and keep it private.\n# public key: %s\n%s\n",
		identity.Recipient(), identity)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return store.SyncFolder(filepath.Dir(path))
}

// Seal encrypts a secret together with the attempt it is of: a copy that ends up
// in the row of another attempt does not open there.
func (k *Keys) Seal(intent string, secret edge.Secret) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, k.recipient)
	if err != nil {
		return nil, store.Fault(store.ErrSeal, err.Error())
	}
	if _, err := io.WriteString(w, intent+"\n"+secret.Reveal()); err != nil {
		return nil, store.Fault(store.ErrSeal, "encrypting failed")
	}
	if err := w.Close(); err != nil {
		return nil, store.Fault(store.ErrSeal, "encrypting failed")
	}
	return sealed.Bytes(), nil
}

// Open is the other way round.
func (k *Keys) Open(intent string, sealed []byte) (edge.Secret, error) {
	if len(k.identities) == 0 {
		return edge.Secret{}, &store.Error{
			Kind: store.ErrSeal, Reason: "it is sealed for a recipient, and Seawall does not have the key",
			Hint: "decrypt it with the key and age --decrypt; the column copy of the table sealed is an age file",
		}
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), k.identities...)
	if noMatch := new(age.NoIdentityMatchError); errors.As(err, &noMatch) {
		return edge.Secret{}, store.Fault(store.ErrSeal, "it was sealed with another key")
	}
	damaged := &store.Error{
		Kind: store.ErrDamaged, Reason: "the sealed secret of attempt " + intent,
		Hint: "the token exists, but its secret is lost: revoke it, then see seawall token resolve --help",
	}
	if err != nil {
		return edge.Secret{}, damaged
	}
	opened, err := io.ReadAll(r)
	if err != nil {
		return edge.Secret{}, damaged
	}
	secret, ok := strings.CutPrefix(string(opened), intent+"\n")
	if !ok {
		return edge.Secret{}, damaged
	}
	return edge.NewSecret(secret), nil
}
