package shell

import (
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

var httpieOptions = options{short: "aAopsS", long: call.Words(`auth auth-type bearer body-file boundary cert cert-key ciphers default-scheme
	format-options max-headers max-redirects output pretty print proxy raw response-charset response-mime session session-read-only ssl
	style timeout verify`)}

// httpieRequests reads the command line of HTTPie and of xh:
//
//	http [options] [METHOD] URL [Header:value | query==value | field=value | field:=json]…
func httpieRequests(args []string, input *input) []request {
	var r request
	var arguments []string
	form := false
	httpieOptions.each(args, func(name, value string) {
		switch name {
		case "":
			arguments = append(arguments, value)
		case "raw":
			r.body, r.sends = []byte(value), true
		case "f", "form", "multipart":
			form = true
		}
	})
	if len(arguments) > 1 && call.IsMethod([]byte(strings.ToUpper(arguments[0]))) { // any word of letters that an address follows
		r.method, arguments = arguments[0], arguments[1:]
	}
	fields := map[string]json.RawMessage{}
	for i, arg := range arguments {
		if i == 0 {
			r.addresses = []string{localAddress(arg)}
			continue
		}
		r.item(arg, fields)
	}
	switch {
	case len(fields) > 0 && !form:
		r.body, _ = json.Marshal(fields) // valid JSON in, valid JSON out
		r.defaultContentType("application/json")
	case input != nil && !r.sends:
		r.body, r.sends = []byte(input.text), true
	}
	return []request{r}
}

// localAddress writes HTTPie's :8080/path and :/path out.
func localAddress(arg string) string {
	if strings.HasPrefix(arg, ":") {
		return "http://localhost" + strings.Replace(arg, ":/", "/", 1)
	}
	return arg
}

// item takes one request item, told by the separator that comes first.
func (r *request) item(arg string, fields map[string]json.RawMessage) {
	i := strings.IndexAny(arg, ":=@")
	if i < 0 {
		return
	}
	name, rest := arg[:i], arg[i:]
	switch {
	case strings.HasPrefix(rest, "=="):
		r.query = append(r.query, name+"="+call.Escaped(rest[2:], call.Open))
	case strings.HasPrefix(rest, ":="):
		r.sends = true
		if fields[name] = json.RawMessage(rest[2:]); !json.Valid(fields[name]) {
			fields[name] = json.RawMessage("null")
		}
	case rest[0] == '=':
		r.sends = true
		fields[name], _ = json.Marshal(rest[1:])
	case rest[0] == '@':
		r.sends = true
	default:
		r.addHeader(arg)
	}
}
