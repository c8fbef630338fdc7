package shell

import (
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// httpieValued are options of HTTPie and xh that take a value.
var httpieValued = call.Words(`-a -A -o -p -s -S --auth --auth-type --bearer --body-file --boundary --cert --cert-key --ciphers --default-scheme
	--format-options --max-headers --max-redirects --output --path-as-is --pretty --print --proxy --raw --response-charset --response-mime
	--session --session-read-only --ssl --style --timeout --verify`)

// httpieRequests reads the command line of HTTPie and of xh:
//
//	http [options] [METHOD] URL [Header:value | query==value | field=value | field:=json]…
func httpieRequests(args []string, input *input) []request {
	h := httpie{fields: map[string]json.RawMessage{}}
	for i := 0; i < len(args); i++ {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if h.argument(args[i], next) {
			i++
		}
	}
	switch {
	case len(h.fields) > 0 && !h.form:
		h.body, _ = json.Marshal(h.fields) // valid JSON in, valid JSON out
		h.defaultContentType("application/json")
	case input != nil && !h.sends:
		h.body, h.sends = []byte(input.text), true
	}
	return []request{h.request}
}

// httpie gathers the arguments of one command.
type httpie struct {
	request
	fields map[string]json.RawMessage
	form   bool
}

// argument takes one and reports whether it took the next one as its value.
func (h *httpie) argument(arg, next string) bool {
	switch {
	case arg == "--raw" && next != "":
		h.body, h.sends = []byte(next), true
		return true
	case httpieValued[arg]:
		return true
	case arg == "-f" || arg == "--form" || arg == "--multipart":
		h.form = true
	case strings.HasPrefix(arg, "-"):
	case h.method == "" && len(h.addresses) == 0 && next != "" && call.IsMethod([]byte(strings.ToUpper(arg))):
		h.method = strings.ToUpper(arg) // any word of letters that an address follows
	case len(h.addresses) == 0:
		h.addresses = []string{localAddress(arg)}
	default:
		h.item(arg, h.fields)
	}
	return false
}

// localAddress writes HTTPie's :8080/path and :/path out.
func localAddress(arg string) string {
	if strings.HasPrefix(arg, ":/") {
		return "http://localhost" + arg[1:]
	}
	if strings.HasPrefix(arg, ":") {
		return "http://localhost" + arg
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
		r.query = append(r.query, name+"="+encodedValue(rest[2:]))
	case strings.HasPrefix(rest, ":="):
		r.sends = true
		fields[name] = json.RawMessage(rest[2:])
		if !json.Valid(fields[name]) {
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
