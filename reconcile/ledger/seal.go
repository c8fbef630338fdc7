package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/seawall-dev/seawall/edge"
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

// keys are what a Seal comes to.
type keys struct {
	recipient  age.Recipient
	identities []age.Identity // none where only a recipient is known
}

// keys loads what secrets are sealed with. Where a key file is missing it
// creates one, unless a secret waits that only the missing one opens.
func (l *Ledger) keys(ctx context.Context) (*keys, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sealing != nil {
		return l.sealing, nil
	}
	loaded, err := l.loadKeys(ctx)
	if err != nil {
		return nil, err
	}
	l.sealing = loaded
	return loaded, nil
}

func (l *Ledger) loadKeys(ctx context.Context) (*keys, error) {
	switch path := l.keyFile(); {
	case l.Seal.KeyFile != "" && l.Seal.Recipient != "":
		return nil, fault(ErrSeal, "both a key file and a recipient are set")
	case l.Seal.Recipient != "":
		return recipientOnly(l.Seal.Recipient)
	default:
		loaded, err := readKeyFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return loaded, err
		}
		if err := l.mayCreateKey(ctx, path); err != nil {
			return nil, err
		}
		if err := createKeyFile(path); err != nil {
			return nil, err
		}
		return readKeyFile(path)
	}
}

func (l *Ledger) keyFile() string {
	if l.Seal.KeyFile != "" {
		return l.Seal.KeyFile
	}
	return l.path + "-key"
}

func (l *Ledger) mayCreateKey(ctx context.Context, path string) error {
	var waiting int
	if err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM sealed`).Scan(&waiting); err != nil || waiting == 0 {
		return err
	}
	return fault(ErrSeal, fmt.Sprintf("%s is missing, but %d secrets in the ledger need it", path, waiting))
}

func recipientOnly(text string) (*keys, error) {
	recipients, err := age.ParseRecipients(strings.NewReader(text))
	if err != nil || len(recipients) != 1 {
		// The text is not shown: it may be an identity, put in the wrong place.
		return nil, fault(ErrSeal, "the recipient is not an age recipient (age1…)")
	}
	return &keys{recipient: recipients[0]}, nil
}

func readKeyFile(path string) (*keys, error) {
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
		return nil, fault(ErrSeal, path+" is not a regular file")
	case mode.Perm()&0o077 != 0:
		return nil, &Error{
			Kind: ErrSeal, Reason: fmt.Sprintf("%s is open to others than its owner (mode %04o)", path, mode.Perm()),
			Hint: "chmod 600 " + path + "; if others may have read it: wait until no secret is pending, then move it away, and Seawall creates a new one",
		}
	}
	identities, err := age.ParseIdentities(file)
	if err != nil { // what age says of it is not passed on: it is about a secret
		return nil, fault(ErrSeal, path+" has no age identity (AGE-SECRET-KEY-1…)")
	}
	switch first := identities[0].(type) {
	case *age.X25519Identity:
		return &keys{first.Recipient(), identities}, nil
	case *age.HybridIdentity:
		return &keys{first.Recipient(), identities}, nil
	}
	return nil, fault(ErrSeal, path+" starts with an identity of an unknown type")
}

// createKeyFile makes a key, whole or not at all, and never over another.
func createKeyFile(path string) (err error) {
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
	return syncFolder(filepath.Dir(path))
}

// seal encrypts a secret together with the attempt it is of: a copy that ends up
// in the row of another attempt does not open there.
func (k *keys) seal(intent string, secret edge.Secret) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, k.recipient)
	if err != nil {
		return nil, fault(ErrSeal, err.Error())
	}
	if _, err := io.WriteString(w, intent+"\n"+secret.Reveal()); err != nil {
		return nil, fault(ErrSeal, "encrypting failed")
	}
	if err := w.Close(); err != nil {
		return nil, fault(ErrSeal, "encrypting failed")
	}
	return sealed.Bytes(), nil
}

// open is the other way round.
func (k *keys) open(intent string, sealed []byte) (edge.Secret, error) {
	if len(k.identities) == 0 {
		return edge.Secret{}, &Error{
			Kind: ErrSeal, Reason: "it is sealed for a recipient, and Seawall does not have the key",
			Hint: "decrypt it with the key and age --decrypt; the column copy of the table sealed is an age file",
		}
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), k.identities...)
	if noMatch := new(age.NoIdentityMatchError); errors.As(err, &noMatch) {
		return edge.Secret{}, fault(ErrSeal, "it was sealed with another key")
	}
	damaged := &Error{
		Kind: ErrDamaged, Reason: "the sealed secret of attempt " + intent,
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
