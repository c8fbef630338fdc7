package document

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// interaction reads a request with its answer, and reports whether an object is
// one: a request and a response beside each other (VCR, Pact, WireMock), an item
// of Postman, or one of nock.
func (w *walker) interaction(n *yaml.Node) bool {
	if scope := get(n, "scope"); scope != nil && get(n, "path") != nil && get(n, "method") != nil {
		c := call.Call{
			Method: strings.ToUpper(text(get(n, "method"))), Line: get(n, "path").Line, Body: w.body(get(n, "body")),
			Response: &call.Response{Status: number(get(n, "status")), Body: w.body(get(n, "response"))},
		}
		w.offer(c, strings.TrimSuffix(text(scope), ":443")+text(get(n, "path")))
		return true
	}
	request := plainNode(get(n, "request"))
	if request == nil || request.Kind != yaml.MappingNode {
		return false
	}
	c, address, ok := w.recorded(request)
	if !ok {
		return false
	}
	answers := get(n, "response")
	if answers != nil && answers.Kind == yaml.SequenceNode { // of Postman
		w.saved(c, address, items(answers))
		return true
	}
	if answers != nil {
		c.Response = w.answer(answers)
	}
	w.offer(c, address)
	return true
}

// recorded is the request of an interaction.
func (w *walker) recorded(n *yaml.Node) (call.Call, string, bool) {
	at := firstOf(n, "url", "uri", "urlPath", "urlPattern", "urlPathPattern", "path")
	method := strings.ToUpper(text(get(n, "method")))
	if at == nil || !call.IsMethod([]byte(method)) {
		return call.Call{}, "", false
	}
	body := get(n, "body")
	if patterns := get(n, "bodyPatterns"); body == nil && len(items(patterns)) > 0 { // of WireMock
		body = get(items(patterns)[0], "equalToJson")
	}
	c := call.Call{Method: method, Line: at.Line, Header: w.header(firstOf(n, "headers", "header")), Body: w.recordedBody(body)}
	address := w.address(at)
	if query := firstOf(n, "query", "queryParameters"); !strings.Contains(address, "?") {
		address = call.WithQuery(address, w.query(query))
	}
	return c, address, true
}

// saved hands a request of Postman on, once for each answer that was saved.
func (w *walker) saved(c call.Call, address string, answers []*yaml.Node) {
	if len(answers) == 0 {
		w.offer(c, address)
	}
	for _, a := range answers {
		one, at := c, address
		one.Response = w.answer(a)
		if original, where, ok := w.recorded(get(a, "originalRequest")); ok {
			original.Response = one.Response
			one, at = original, where
		}
		w.offer(one, at)
	}
}

// answer is a recorded answer.
func (w *walker) answer(n *yaml.Node) *call.Response {
	status := firstOf(n, "status", "statusCode", "status_code", "code")
	if status != nil && status.Kind == yaml.MappingNode {
		status = get(status, "code")
	}
	return &call.Response{Status: number(status), Header: w.header(firstOf(n, "headers", "header")), Body: w.recordedBody(firstOf(n, "body", "jsonBody", "content"))}
}

// recordedBody is a body as tools record it: a text, JSON, or either within an
// object.
func (w *walker) recordedBody(n *yaml.Node) []byte {
	if packed := firstOf(n, "base64_string", "base64"); packed != nil {
		body, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text(packed), "\n", ""))
		if err == nil {
			return body
		}
	}
	return w.body(n)
}

func number(n *yaml.Node) int {
	v, _ := strconv.Atoi(text(n)) // 0: not recorded
	return v
}

// offer hands a call on, with its address in the form that calls carry.
func (w *walker) offer(c call.Call, address string) {
	normal, known := call.Normal(address)
	if !known {
		w.out.Skip(c.Line, "the whole address of the request is left open")
		return
	}
	if len(c.Body) == 0 {
		c.Body = nil
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	c.URL = normal
	w.out.Offer(c)
}

func encoded(v any) []byte {
	body, _ := json.Marshal(v) // it was JSON or YAML
	return body
}
