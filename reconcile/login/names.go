package login

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostName   = 256  // bytes of a name of a person or group
	mostGroups = 1000 // of a person; directories of large companies come close to it
)

// checkName refuses what cannot be a name: it is logged, shown and compared.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", what)
	case len(name) > mostName:
		return fmt.Errorf("the %s is longer than %d bytes", what, mostName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the %s has characters that cannot be printed", what)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("the %s begins or ends with blanks", what)
	case name == Everyone:
		return fmt.Errorf("the %s is %q, which means everyone", what, name)
	}
	return nil
}

// checkIdentity does the same for all that a way says of a person.
func checkIdentity(i Identity) error {
	if err := checkName("name", i.User); err != nil {
		return err
	}
	if len(i.Groups) > mostGroups {
		return fmt.Errorf("the user is in more than %d groups", mostGroups)
	}
	for _, group := range i.Groups {
		if err := checkName("name of a group", group); err != nil {
			return err
		}
	}
	return nil
}
