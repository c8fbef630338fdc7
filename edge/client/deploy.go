package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// Send sends a write once, and again only where it certainly had no effect. The reference does
// not show the answer: what is not the entry point after the write is nil, and the caller reads.
// Mostly the read that proves a write is answered as the write was, so its answer is not decoded
// twice. The answer must not be written to, as that of EntryPoint.
func (r rulesetCalls) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	write, err := r.request(w)
	if err != nil {
		return nil, err
	}
	write.tells = true
	var answer knownAnswer
	err = r.c.do(ctx, write, func(r wire.Response) error {
		answer = knownAnswer{status: r.Status, sum: sha256.Sum256(r.Body)}
		return r.DecodeOptional(&answer.ruleset)
	})
	if err != nil || !isAfter(w, answer.ruleset) {
		return nil, err
	}
	r.c.known.keep(edge.EntryPointPath(w.Scope, answer.ruleset.Phase), answer)
	return &answer.ruleset, nil
}

// isAfter reports whether an answer is the entry point after a write.
func isAfter(w edge.Write, answer edge.Ruleset) bool {
	if w.Call == edge.CallCreateEntryPoint {
		return answer.ID != "" && answer.Kind == w.Scope.EntryKind()
	}
	return answer.ID == w.EntryPoint
}

// Try has the platform validate a write and not make it: it then answers without a result.
// It counts for the budget like any other request. A deletion is not tried: a platform that
// does not know dry runs would delete.
func (r rulesetCalls) Try(ctx context.Context, w edge.Write) error {
	trying, err := r.request(w)
	if err == nil && w.Call == edge.CallDeleteRule {
		err = fmt.Errorf("%s: %w", trying, edge.ErrNotOffered)
	}
	if err != nil {
		return err
	}
	trying.class, trying.query = trial, url.Values{"dry_run": {"true"}}
	return r.c.do(ctx, trying, func(r wire.Response) error {
		var result json.RawMessage
		err := r.DecodeOptional(&result)
		if err == nil && (len(result) > 0 || len(bytes.TrimSpace(r.Body)) == 0) {
			err = fmt.Errorf("%s: %w", trying, edge.ErrNotDry)
		}
		return err
	})
}

// request is the request of a write.
func (r rulesetCalls) request(w edge.Write) (call, error) {
	request := call{name: w.Call, level: w.Scope.Level, class: update}
	ids := []string{string(w.EntryPoint), string(w.Rule)}
	switch w.Call {
	case edge.CallCreateEntryPoint:
		ids = nil
	case edge.CallAddRule:
		ids = ids[:1]
	case edge.CallDeleteRule:
		request.class = remove
	default:
	}
	if err := checkIDs(w.Call, w.Scope, ids...); err != nil {
		return request, err
	}
	request.method, request.path = w.Request()
	if body := w.Body(); body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return request, fmt.Errorf("%s: encoding the body: %w", request, err)
		}
		request.body = json.RawMessage(data)
	}
	return request, nil
}
