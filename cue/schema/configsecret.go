package schema

import (
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// secretPlace is the path of a #SecretRef, or of what is inside one.
var secretPlace = lazyregexp.New(`^((?:accounts\..+\.)?credentials\.(rulesets|tokens)|.*\.(token|metrics_token|client_secret|password|passphrase|secret|secret_id|ssh\.key)|notify\..*\.(url|key)|traces\.headers\.(?:"[^"]*"|[^.]+))(\.[^.]+)?$`)

// userOfURL is the user and the password in an address that a message quotes. Without
// an "@" it is all that is shown of an address that was cut.
var userOfURL = lazyregexp.New(`(://)(?:[^\s"]*@|[^\s"/]*(\.\.\. ))`)

// conceal takes secrets out of messages: the password of an address, and what stands in
// the place of a secret. Who puts one there by mistake must not find it in a log.
func conceal(problems []desired.Problem) []desired.Problem {
	for i, p := range problems {
		if strings.HasPrefix(p.Message, `"`) {
			p.Message = userOfURL().ReplaceAllString(p.Message, "$1…$2")
			problems[i].Message = p.Message
		}
		found := secretPlace().FindStringSubmatch(p.Path)
		if found == nil || !strings.HasPrefix(p.Message, `"`) {
			continue
		}
		if inside := found[5]; inside != "" {
			problems[i].Message = "this value " + afterQuoted(p.Message)
			continue
		}
		problems[i].Message = "the configuration must not contain a secret"
		problems[i].Hint = `give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here`
	}
	return problems
}

// afterQuoted is a message without the value that it begins with, which may have
// been cut.
func afterQuoted(message string) string {
	if _, rest, cut := strings.Cut(message, "... "); cut {
		return rest
	}
	if i := strings.LastIndex(message, `" `); i > 0 {
		return message[i+2:]
	}
	return "does not fit"
}
