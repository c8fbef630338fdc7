package shell

import (
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

var curlOptions = options{short: "AbCcDdEeFHhKmoPQrTtUuwXxYyz", long: call.Words(`
	abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to continue-at cookie
	cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode delegation dns-interface dns-servers
	doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout form form-escape form-string ftp-account ftp-method
	ftp-port happy-eyeballs-timeout-ms haproxy-clientip header hostpubmd5 hsts interface ip-tos ipfs-gateway json keepalive-cnt
	keepalive-time key key-type krb libcurl limit-rate local-port login-options mail-from max-filesize max-redirs max-time netrc-file
	noproxy oauth2-bearer output output-dir parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-header
	proxy-pass proxy-user proxy1.0 pubkey quote random-file range rate referer request request-target resolve retry retry-delay
	retry-max-time service-name socks4 socks4a socks5 socks5-hostname speed-limit speed-time stderr telnet-option time-cond tls-max
	tls13-ciphers tlspassword tlsuser trace trace-ascii unix-socket upload-file url url-query user user-agent variable vlan-priority
	write-out`)}

var wgetOptions = options{short: "aABDeiIloOPQRtTUwX", long: call.Words(`output-document output-file append-output directory-prefix user
	password user-agent timeout tries wait ca-certificate certificate private-key body-file post-file load-cookies save-cookies referer
	input-file quota limit-rate base method header body-data post-data`)}

// curl gathers the options of one request, of curl or wget.
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
	curlOptions.each(args, func(name, value string) {
		if name == "next" || name == ":" {
			requests = append(requests, c.done())
			c = &curl{input: input, open: open}
			return
		}
		c.set(name, value)
	})
	return append(requests, c.done())
}

// wgetRequests reads wget's command line, of which only long options matter.
func wgetRequests(args []string, open opener) []request {
	c := &curl{open: open}
	wgetOptions.each(args, func(name, value string) {
		if len(name) != 1 {
			c.set(name, value)
		}
	})
	return []request{c.done()}
}

// set notes an option that matters.
func (c *curl) set(name, value string) {
	switch name {
	case "X", "request", "method":
		c.method = value
	case "H", "header":
		c.addHeader(value)
	case "I", "head", "spider":
		c.head = true
	case "G", "get":
		c.get = true
	case "T", "upload-file":
		c.put = true
	case "F", "form", "form-string":
		c.sends, c.unknown = true, true
		c.defaultContentType("multipart/form-data")
	case "json":
		c.addData(value, true)
		c.defaultContentType("application/json")
	case "d", "data", "data-ascii", "data-binary":
		c.addData(value, true)
	case "data-raw", "body-data", "post-data":
		c.addData(value, false)
	case "body-file", "post-file":
		c.addData("@"+value, true)
	case "data-urlencode":
		c.addData(encodedData(value), false)
	case "url-query":
		c.query = append(c.query, encodedData(value))
	case "url", "":
		c.addresses = append(c.addresses, value)
	}
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
	before, _, file := strings.Cut(text, "@")
	switch {
	case ok && name != "":
		return name + "=" + call.Escaped(value, call.Open)
	case !ok && file:
		return before + "=" + call.Open
	}
	return call.Escaped(strings.TrimPrefix(text, "="), call.Open)
}

// done settles what the options mean together.
func (c *curl) done() request {
	r := c.request
	separator := "&"
	if strings.Contains(r.header.Get("Content-Type"), "json") {
		separator = ""
	}
	switch {
	case c.get:
		r.query = append(r.query, c.data...)
		r.sends = false
	case c.sends && !c.unknown:
		r.body = []byte(strings.Join(c.data, separator))
	}
	if r.sends {
		r.defaultContentType("application/x-www-form-urlencoded")
	}
	switch {
	case r.method != "":
	case c.head:
		r.method = http.MethodHead
	case c.put:
		r.method = http.MethodPut
	}
	return r
}
