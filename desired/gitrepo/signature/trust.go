package signature

import (
	"errors"
	"os"
	"time"

	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/seawall-dev/seawall/desired/trusted"
)

// Trust names the files of keys whose signatures count. At least one is given.
type Trust struct {
	// OpenPGP is a file of armored public keys, one block or several.
	OpenPGP string `json:"openpgp,omitempty"`
	// SSH is a file of allowed signers, in the form of ssh-keygen(1).
	SSH string `json:"ssh,omitempty"`
}

// Keys are the keys of a [Trust], read. A member is nil where no file was
// named, and never empty otherwise.
type Keys struct {
	openpgp openpgp.EntityList
	ssh     []allowedSigner
}

// maxTrust bounds a file of keys, in bytes.
const maxTrust = 4 << 20

// Read reads the files, and returns [ErrTrust] where one cannot be used. Files are read
// at each verification, so that a key is added or withdrawn by writing a file.
func (t Trust) Read() (keys Keys, err error) {
	if t.OpenPGP == "" && t.SSH == "" {
		return keys, badTrust("source.verify", errors.New("it names no file of keys"))
	}
	if t.OpenPGP != "" {
		data, err := trusted.Read(t.OpenPGP, maxTrust)
		if err == nil {
			keys.openpgp, err = readKeyring(data)
		}
		if err != nil {
			return keys, badTrust(t.OpenPGP, err)
		}
	}
	if t.SSH != "" {
		data, err := trusted.Read(t.SSH, maxTrust)
		if err == nil {
			keys.ssh, err = readAllowedSigners(string(data), time.Local)
		}
		if err != nil {
			return keys, badTrust(t.SSH, err)
		}
	}
	return keys, nil
}

func badTrust(name string, err error) error {
	reason, hint := err.Error(), "no commit is accepted until the file is fixed; the last good commit stays in force"
	if at, ok := errors.AsType[*os.PathError](err); ok {
		reason = at.Err.Error()
	}
	if open, ok := errors.AsType[*trusted.Error](err); ok {
		hint = open.Advice() + "; " + hint
	}
	return &Error{Kind: ErrTrust, Doing: "reading " + name, Reason: reason, Hint: hint}
}
