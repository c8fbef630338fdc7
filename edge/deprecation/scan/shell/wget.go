package shell

import (
	"net/http"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

var wgetOptions = options{short: "aABDeiIloOPQRtTUwX", long: call.Words(`output-document output-file append-output directory-prefix user
	password user-agent timeout tries wait ca-certificate certificate private-key body-file post-file load-cookies save-cookies referer
	input-file quota limit-rate base method header body-data post-data`)}

// wgetRequests reads wget's command line.
func wgetRequests(args []string, open opener) []request {
	r := request{}
	wgetOptions.each(args, func(name, value string) {
		switch name {
		case "":
			r.addresses = append(r.addresses, value)
		case "method":
			r.method = value
		case "header":
			r.addHeader(value)
		case "body-data", "post-data":
			r.body, r.sends = []byte(value), r.sends || name == "post-data"
		case "post-file", "body-file":
			r.sends = r.sends || name == "post-file"
			if text, known := open.file(value); known {
				r.body = []byte(text)
			}
		case "spider":
			r.method = http.MethodHead
		}
	})
	return []request{r}
}
