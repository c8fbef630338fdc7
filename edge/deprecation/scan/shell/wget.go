package shell

import (
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// wgetValued are options of wget whose value may be the next argument.
var wgetValued = call.Words(`-a -A -B -D -e -i -I -l -o -O -P -Q -R -t -T -U -w -X
	--output-document --output-file --append-output --directory-prefix --user --password --user-agent --timeout --tries --wait
	--ca-certificate --certificate --private-key --body-file --post-file --load-cookies --save-cookies --referer --input-file
	--quota --limit-rate --base --method --header --body-data --post-data`)

// wgetRequests reads wget's command line.
func wgetRequests(args []string, open opener) []request {
	r := request{}
	for i := 0; i < len(args); i++ {
		if len(args[i]) < 2 || args[i][0] != '-' {
			r.addresses = append(r.addresses, args[i])
			continue
		}
		name, value, given := strings.Cut(args[i], "=")
		if !given && wgetValued[name] && i+1 < len(args) {
			i++
			value = args[i]
		}
		r.wgetOption(name, value, open)
	}
	return []request{r}
}

func (r *request) wgetOption(name, value string, open opener) {
	switch name {
	case "--method":
		r.method = value
	case "--header":
		r.addHeader(value)
	case "--body-data", "--post-data":
		r.body, r.sends = []byte(value), r.sends || name == "--post-data"
	case "--post-file", "--body-file":
		r.sends = r.sends || name == "--post-file"
		if text, known := open.file(value); known {
			r.body = []byte(text)
		}
	case "--spider":
		r.method = http.MethodHead
	}
}
