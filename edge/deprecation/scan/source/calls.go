package source

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// calls are the requests of the file; of those that are made of the same strings
// one.
func (p *parser) calls() (out []finding) {
	for _, r := range p.requests {
		if c, ok := callOf(r, p.used); ok {
			out = append(out, finding{c, (*call.Sink).Offer})
		}
	}
	return out
}

// callOf is the call that a request makes. It marks the strings of its address as
// used.
func callOf(r *request, used map[int]bool) (call.Call, bool) {
	if r.target == nil {
		return call.Call{}, false
	}
	written, _ := r.target.address()
	if r.base != nil && !strings.Contains(written, "://") && !strings.HasPrefix(written, call.Open) {
		written = strings.TrimSuffix(strings.ReplaceAll(r.base.text, hole, call.Open), "/") + "/" + strings.TrimPrefix(written, "/")
	}
	query := strings.Join(slices.DeleteFunc(r.query, func(q string) bool { return q == "" }), "&")
	url, ok := call.Normal(call.WithQuery(written, strings.ReplaceAll(query, hole, call.Open)))
	if !ok {
		return call.Call{}, false
	}
	c := call.Call{Method: r.method, URL: url, Line: r.target.line}
	if c.Method == "" {
		c.Method = r.usual
		if r.usual == http.MethodGet && r.body != nil {
			c.Method = http.MethodPost
		}
	}
	for _, t := range r.target.tokens {
		used[t] = true
	}
	if r.body != nil {
		c.Body = r.body.json()
	}
	c.Header = headerOf(r.headers)
	return c, true
}

func headerOf(v *value) (h http.Header) {
	if v == nil || v.is != object {
		return nil
	}
	for i, item := range v.items {
		call.AddHeader(&h, v.keys[i], strings.ReplaceAll(item.piece(), hole, call.Open))
	}
	return h
}
