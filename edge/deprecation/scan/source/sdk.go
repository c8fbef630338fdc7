package source

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// imported are the calls of the libraries whose import stands in a text, by the plain names
// of their methods.
func imported(text string, all []call.SDK) map[string]string {
	calls := map[string]string{}
	for _, s := range all {
		if !slices.ContainsFunc(s.Imports, func(begin string) bool { return strings.Contains(text, begin) }) {
			continue
		}
		for method, c := range s.Calls {
			calls[plainPath(method)] = c
		}
	}
	return calls
}

var plainer = strings.NewReplacer("_", "", "()", "", "?", "")

// plainPath is a path of names in lower case without underscores.
func plainPath(path string) string {
	return strings.ToLower(plainer.Replace(path))
}

// sdkCall remembers the call that a method of an imported library makes. What
// stands before the method's own path is the client.
func (p *parser) sdkCall(path string, args []argument, line int) bool {
	if len(p.sdks) == 0 {
		return false
	}
	for rest := plainPath(path); ; {
		_, after, more := strings.Cut(rest, ".")
		if !more {
			return false
		}
		rest = after
		for _, name := range []string{rest, strings.TrimSuffix(wrappers.Replace(rest), "autopaging")} {
			if c, ok := p.sdks[name]; ok {
				p.requests = append(p.requests, sdkRequest(c, args, line))
				return true
			}
		}
	}
}

// wrappers are what the libraries put between resource and method: with_raw_response.
var wrappers = strings.NewReplacer(".withrawresponse", "", ".withstreamingresponse", "")

// sdkRequest is the request of a method, with what its arguments say: the value of
// the path's last parameter where it chooses a setting, and the body.
func sdkRequest(c string, args []argument, line int) *request {
	method, path, _ := strings.Cut(c, " ")
	r := &request{method: method, line: line}
	const setting = "{setting_id}"
	target := &value{is: text, text: path, line: line}
	for _, a := range args {
		switch {
		case plainName(a.name) == "settingid" && a.is == text, a.name == "" && a.is == text && strings.HasSuffix(target.text, setting):
			target.text = strings.Replace(target.text, setting, a.text, 1)
		case a.name == "" && a.is == object && r.body == nil:
			r.body = bodyWithin(a.value)
		}
	}
	if r.body == nil {
		r.body = namedBody(args)
	}
	r.target = target
	return r
}

// bodyWithin is the body among the parameters of a method: its body member, or
// they themselves.
func bodyWithin(v *value) *value {
	if body := v.get("body"); body != nil && body.is == object {
		return body
	}
	return namedBody(zipped(v.keys, v.items))
}

// namedBody makes a body of named arguments; the ids of the path are none of it.
func namedBody(args []argument) *value {
	args = slices.DeleteFunc(slices.Clone(args), func(a argument) bool { return plainName(a.name) == "zoneid" || plainName(a.name) == "accountid" })
	if body := objectOf(args); len(body.keys) > 0 {
		return body
	}
	return nil
}
