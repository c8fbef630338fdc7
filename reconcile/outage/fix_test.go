package outage

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/failure"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

type kind string

func (k kind) Error() string { return string(k) }

func (k kind) Is(target error) bool { return k == diskFull && target == syscall.ENOSPC }

// What is to be done about a fault of the machine is about the machine: not about the credential that
// could not be read meanwhile, and not about the disk of another machine.
func TestTheFixIsAboutWhatIsShort(t *testing.T) {
	credential := reconcile.Outage{Subject: reconcile.OutageCredential, Name: "credentials.rulesets"}
	for name, test := range map[string]struct {
		err        error
		about      reconcile.Outage
		cause      string
		fix, never string
	}{
		"open files, credential": {
			&edge.CredentialError{Err: fmt.Errorf("reading a secret: %w", &fs.PathError{Op: "open", Path: "/etc/token", Err: syscall.EMFILE})},
			credential, "too many files are open", "limit of open files", "credentials.rulesets",
		},
		"a page of a proxy": {
			&edge.Error{Call: "GET /zones/1", Status: 403, Body: "<html>blocked</html>"}, credential,
			"the platform answers 403 Forbidden", "not the platform's", "permission",
		},
		"a refusal of the platform": {errDenied, credential, "the platform answers 403 Forbidden: Authentication error (code 10000)", "permissions", "not the platform's"},
		"open files, git": {
			&failure.Error[kind]{Kind: "the local store failed", Hint: "you may delete the store", From: syscall.ENFILE},
			reconcile.Outage{Subject: reconcile.OutageGit},
			"too many files are open", "limit of open files", "delete",
		},
		"the disk of the database": {
			&failure.Error[kind]{Kind: diskFull, Hint: "free space on the disk of the database server"},
			reconcile.Outage{Subject: reconcile.OutageState},
			"the disk is full", "database server", "state folder",
		},
		"the own disk": {
			errors.Join(&failure.Error[kind]{Kind: "the fetch failed", Hint: "check the address"}, syscall.ENOSPC),
			reconcile.Outage{Subject: reconcile.OutageState},
			"the disk is full", "state folder", "address",
		},
	} {
		c := causeOf(test.err)
		if fix := fix(test.about, c); c.text != test.cause || !strings.Contains(fix, test.fix) || strings.Contains(fix, test.never) {
			t.Errorf("%s: %s; %s", name, c.text, fix)
		}
	}
}
