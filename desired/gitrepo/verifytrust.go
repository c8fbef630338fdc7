package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"time"

	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// trusted are the keys of a [Trust], read. A member is nil where no file was
// named, and never empty otherwise.
type trusted struct {
	openpgp openpgp.EntityList
	ssh     []allowedSigner
}

// maxTrust bounds a file of keys, in bytes.
const maxTrust = 4 << 20

func (t Trust) read() (keys trusted, err error) {
	if t.OpenPGP == "" && t.SSH == "" {
		return keys, badTrust("source.verify", errors.New("it names no file of keys"))
	}
	if t.OpenPGP != "" {
		data, err := readTrust(t.OpenPGP)
		if err == nil {
			keys.openpgp, err = readKeyring(data)
		}
		if err != nil {
			return keys, badTrust(t.OpenPGP, err)
		}
	}
	if t.SSH != "" {
		data, err := readTrust(t.SSH)
		if err == nil {
			keys.ssh, err = readAllowedSigners(string(data), time.Local)
		}
		if err != nil {
			return keys, badTrust(t.SSH, err)
		}
	}
	return keys, nil
}

func readTrust(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxTrust {
		err = fmt.Errorf("it is %s, over the bound of %s", size(info.Size()), size(maxTrust))
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

func badTrust(name string, err error) error {
	reason := err.Error()
	var at *os.PathError
	if errors.As(err, &at) {
		reason = at.Err.Error()
	}
	return &Error{
		Kind: ErrTrust, Doing: "reading " + name, Reason: reason,
		Hint: "no commit is accepted until the file is fixed; the last good commit stays in force",
	}
}
