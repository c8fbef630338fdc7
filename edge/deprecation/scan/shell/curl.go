package shell

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// curlShort are curl's one-letter options that take a value; the others stand
// alone.
const curlShort = "AbCcDdEeFHhKmoPQrTtUuwXxYyz"

// curlValued are its long options that take a value and do not matter here.
var curlValued = call.Words(`
	abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to continue-at cookie
	cookie-jar create-file-mode crlfile curves delegation dns-interface dns-servers doh-url dump-header ech egd-file engine
	etag-compare etag-save expect100-timeout form-escape ftp-account ftp-method ftp-port happy-eyeballs-timeout-ms haproxy-clientip
	hostpubmd5 hsts interface ip-tos ipfs-gateway keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port
	login-options mail-from max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass
	pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-header proxy-pass proxy-user proxy1.0 pubkey quote random-file
	range rate referer request-target resolve retry retry-delay retry-max-time service-name socks4 socks4a socks5 socks5-hostname
	speed-limit speed-time stderr telnet-option time-cond tls-max tls13-ciphers tlspassword tlsuser trace trace-ascii unix-socket
	user user-agent variable vlan-priority write-out`)

// curlLong are the long names of the short options that matter here.
var curlLong = map[string]string{
	"request": "X", "head": "I", "get": "G", "header": "H", "form": "F", "upload-file": "T", "next": ":",
	"data": "d", "data-ascii": "d", "data-binary": "d", "data-raw": "raw", "data-urlencode": "encoded", "json": "json",
	"url": "url", "form-string": "F", "url-query": "query",
}

// curl gathers the options of one request.
type curl struct {
	request
	get, head, put bool
	data           []string // pieces of the body
	unknown        bool     // a piece is in a file
	input          *input
	open           opener
}

// curlRequests reads curl's command line. --next begins another request.
func curlRequests(args []string, input *input, open opener) []request {
	var requests []request
	c := &curl{input: input, open: open}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' {
			c.addresses = append(c.addresses, arg)
			continue
		}
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		if arg == "--next" || arg == "-:" {
			requests = append(requests, c.done())
			c = &curl{input: input, open: open}
			continue
		}
		if c.option(arg, value) {
			i++
		}
	}
	return append(requests, c.done())
}

// option takes one argument that is an option and reports whether it took the
// next one as its value.
func (c *curl) option(arg, next string) bool {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		name, known := curlLong[long]
		if known {
			return c.set(name, next)
		}
		return curlValued[long]
	}
	for i := 1; i < len(arg); i++ {
		letter := arg[i : i+1]
		if !strings.Contains(curlShort, letter) {
			c.set(letter, "")
			continue
		}
		if rest := arg[i+1:]; rest != "" {
			c.set(letter, rest) // -XPOST
			return false
		}
		c.set(letter, next)
		return true
	}
	return false
}

// set notes an option and reports whether it takes a value.
func (c *curl) set(name, value string) bool {
	switch name {
	case "X":
		c.method = value
	case "H":
		c.addHeader(value)
	case "I":
		c.head = true
		return false
	case "G":
		c.get = true
		return false
	case "T":
		c.put = true
	case "F":
		c.sends, c.unknown = true, true
		c.defaultContentType("multipart/form-data")
	case "json":
		c.addData(value, true)
		c.defaultContentType("application/json")
	case "d":
		c.addData(value, true)
	case "raw":
		c.addData(value, false)
	case "encoded":
		c.addData(encodedData(value), false)
	case "query":
		c.query = append(c.query, encodedData(value))
	case "url":
		c.addresses = append(c.addresses, value)
	}
	return true
}

func (c *curl) addData(value string, files bool) {
	c.sends = true
	if name, file := strings.CutPrefix(value, "@"); file && files {
		text, known := c.content(name)
		if !known {
			c.unknown = true
			return
		}
		value = text
	}
	c.data = append(c.data, value)
}

// content is what stands in a file; "-" is what the command is fed.
func (c *curl) content(name string) (string, bool) {
	if name != "-" && name != "/dev/stdin" {
		return c.open.file(name)
	}
	if c.input == nil {
		return "", false
	}
	return c.input.text, true
}

// encodedData does what --data-urlencode does: name=value, =value or value. The
// content of a file (name@file) is open.
func encodedData(text string) string {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		if before, _, file := strings.Cut(text, "@"); file {
			return before + "=" + call.Open
		}
		return encodedValue(text)
	}
	if name == "" {
		return encodedValue(value)
	}
	return name + "=" + encodedValue(value)
}

// encodedValue escapes a value for a query and leaves what is open readable.
func encodedValue(value string) string {
	pieces := strings.Split(value, call.Open)
	for i, p := range pieces {
		pieces[i] = url.QueryEscape(p)
	}
	return strings.Join(pieces, call.Open)
}

// done settles what the options mean together.
func (c *curl) done() request {
	r := c.request
	switch {
	case c.get:
		r.query = append(r.query, c.data...)
		r.sends = false
	case c.sends && !c.unknown:
		r.body = []byte(joinData(c.data, r.header.Get("Content-Type")))
	}
	if c.sends && !c.get {
		r.defaultContentType("application/x-www-form-urlencoded")
	}
	if r.method == "" && c.head {
		r.method = http.MethodHead
	}
	if r.method == "" && c.put {
		r.method = http.MethodPut
	}
	return r
}

// joinData puts the pieces of a body together as curl does: --json without, -d
// with an ampersand between them.
func joinData(pieces []string, kind string) string {
	if strings.Contains(kind, "json") {
		return strings.Join(pieces, "")
	}
	return strings.Join(pieces, "&")
}
