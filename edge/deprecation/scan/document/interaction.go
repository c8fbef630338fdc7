package document

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// interaction reads a request with its answer, and reports whether an object is
// one: a request and a response beside each other (VCR, Pact, WireMock), an item
// of Postman, or one of nock.
func (w *walker) interaction(n *yaml.Node) bool {
	if scope := get(n, "scope"); scope != nil && get(n, "path") != nil {
		c, ok := w.request(n)
		c.URL = strings.TrimSuffix(text(scope), ":443") + c.URL
		c.Response = &call.Response{Body: w.body(get(n, "response"))}
		return ok && w.offer(c)
	}
	c, ok := w.request(plainNode(get(n, "request")))
	if !ok {
		return false
	}
	answers := get(n, "response")
	if answers != nil && answers.Kind == yaml.MappingNode {
		c.Response = w.answer(answers)
	}
	saved := items(answers) // of Postman: once for each answer
	for _, a := range saved {
		one := c
		if original, ok := w.request(get(a, "originalRequest")); ok {
			one = original
		}
		one.Response = w.answer(a)
		w.offer(one)
	}
	return len(saved) > 0 || w.offer(c)
}

// answer is a recorded answer.
func (w *walker) answer(n *yaml.Node) *call.Response {
	return &call.Response{Header: w.header(firstOf(n, headerNames...)), Body: w.body(firstOf(n, "body", "jsonBody", "content"))}
}

// offer hands a call on, with its address in the form that calls carry. It returns true:
// what cannot be handed on was read, too.
func (w *walker) offer(c call.Call) bool {
	var known bool
	if c.URL, known = call.Normal(c.URL); known {
		w.out.Offer(c)
	} else {
		w.out.Skip(c.Line, "the whole address of the request is left open")
	}
	return true
}

func encoded(v any) []byte {
	body, _ := json.Marshal(v) // it was JSON or YAML
	return body
}
