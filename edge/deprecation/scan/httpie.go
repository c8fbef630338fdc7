package scan

import (
	"encoding/json"
	"strings"
)

// httpieValued are options of HTTPie and xh that take a value.
var httpieValued = words(`-a -A -o -p -s -S --auth --auth-type --bearer --body-file --boundary --cert --cert-key --ciphers --default-scheme
	--format-options --max-headers --max-redirects --output --path-as-is --pretty --print --proxy --raw --response-charset --response-mime
	--session --session-read-only --ssl --style --timeout --verify`)

// httpieRequests reads the command line of HTTPie and of xh:
//
//	http [options] [METHOD] URL [Header:value | query==value | field=value | field:=json]…
func httpieRequests(args []string) []request {
	r := request{}
	fields, form := map[string]json.RawMessage{}, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--raw" && i+1 < len(args):
			i++
			r.body, r.sends = []byte(args[i]), true
		case httpieValued[arg]:
			i++
		case arg == "-f" || arg == "--form" || arg == "--multipart":
			form = true
		case strings.HasPrefix(arg, "-"):
		case r.method == "" && len(r.addresses) == 0 && i+1 < len(args) && isMethod([]byte(strings.ToUpper(arg))):
			r.method = strings.ToUpper(arg) // any word of letters that an address follows
		case len(r.addresses) == 0:
			r.addresses = []string{localAddress(arg)}
		default:
			r.item(arg, fields)
		}
	}
	if len(fields) > 0 && !form {
		r.body, _ = json.Marshal(fields) // valid JSON in, valid JSON out
		r.defaultHeader("Content-Type", "application/json")
	}
	return []request{r}
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
