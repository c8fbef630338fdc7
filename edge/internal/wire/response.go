package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Response is an answer that was read to its end.
type Response struct {
	Call   string // method and path, "GET /zones/…"
	Status int
	Header http.Header
	Body   []byte
	// Confidential says that the body may hold a new secret: no error quotes it. Of what
	// the platform says is wrong, codes are left, and where in the request it is.
	Confidential bool
}

// Decode decodes the result of a successful answer into into, a non-nil
// pointer, and returns the cursor of the next page.
//
// It returns an [*edge.Error] when the status or the envelope tells of a
// failure, and an error wrapping [edge.ErrUnreadable] when a 2xx answer is cut
// short, is not JSON, does not say success, or has no result.
func (r Response) Decode(into any) (after string, err error) {
	env, err := r.decode(into)
	return env.After(), err
}

// DecodePage is [Response.Decode] for lists whose pages have numbers. Info is
// empty where the answer says nothing of paging.
func (r Response) DecodePage(into any) (Info, error) {
	env, err := r.decode(into)
	if err != nil || env.Info == nil {
		return Info{}, err
	}
	return *env.Info, nil
}

func (r Response) decode(into any) (Envelope, error) {
	env, result, err := r.envelope()
	if err != nil {
		return Envelope{}, err
	}
	if isNull(result) {
		return Envelope{}, r.unreadable("the answer has no result")
	}
	return env, r.decodeResult(result, into)
}

// decodeResult decodes what is known to be JSON.
func (r Response) decodeResult(result []byte, into any) (err error) {
	if one, ok := into.(json.Unmarshaler); ok {
		err = one.UnmarshalJSON(result)
	} else {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		return r.unreadable(jsonReason(err))
	}
	return nil
}

// DecodeOptional is [Response.Decode] for calls that may answer without a body
// or without a result; into is then left as it is.
func (r Response) DecodeOptional(into any) error {
	if r.ok() && r.Status != http.StatusPartialContent && len(bytes.TrimSpace(r.Body)) == 0 {
		return nil
	}
	_, result, err := r.envelope()
	if err != nil || isNull(result) {
		return err
	}
	return r.decodeResult(result, into)
}

func (r Response) ok() bool { return r.Status >= 200 && r.Status < 300 }

// envelope returns what a success has beside its result, and that; or the error that the answer is.
func (r Response) envelope() (env Envelope, result []byte, err error) {
	if err := r.refused(); err != nil {
		return env, nil, err
	}
	if !json.Valid(r.Body) || !bytes.HasPrefix(bytes.TrimSpace(r.Body), []byte("{")) {
		if err := json.Unmarshal(r.Body, &env); err != nil {
			return Envelope{}, nil, r.unreadable(jsonReason(err))
		}
	}
	// Success is a pointer here so that a JSON object of some other service does
	// not pass for a failure the platform described.
	var success *bool
	var wrong error
	take := func(value []byte, into any) {
		if err := decodeMember(value, into); wrong == nil {
			wrong = err
		}
	}
	err = exactjson.Members(r.Body, func(name, value []byte) {
		switch string(name) {
		case "result":
			result = value
		case "success":
			take(value, &success)
		case "errors":
			take(value, &env.Errors)
		case "result_info":
			take(value, &env.Info)
		}
	})
	switch {
	case err != nil:
		return Envelope{}, nil, r.unreadable(r.ambiguous(err))
	case wrong != nil:
		return Envelope{}, nil, r.unreadable(exactjson.Reason(wrong, "a member of the answer"))
	case success == nil:
		return Envelope{}, nil, r.unreadable("the answer is not an envelope")
	case !*success:
		return Envelope{}, nil, r.failure()
	}
	env.Success = true
	return env, result, nil
}

// decodeMember decodes a member of an envelope. What nearly all of them say, a success without errors,
// is known without that.
func decodeMember(value []byte, into any) error {
	switch into := into.(type) {
	case **bool:
		if string(value) == "true" {
			*into = new(true)
			return nil
		}
	case *[]edge.ErrorDetail:
		if string(value) == "[]" {
			return nil
		}
	}
	return json.Unmarshal(value, into)
}

// refused is why an answer is no success by its status; nil where it is one.
func (r Response) refused() error {
	switch {
	case r.Status >= 300 && r.Status < 400:
		return r.unreadable(fmt.Sprintf("a redirect (%d), which is not followed; check base_url", r.Status))
	case r.Status == http.StatusPartialContent:
		return r.unreadable("a part of an answer (206), which was not asked for")
	case !r.ok():
		return r.failure()
	default:
		return nil
	}
}

// ambiguous says why an answer is not taken for either of the things that it may mean.
func (r Response) ambiguous(err error) string {
	if r.Confidential {
		return "the answer has a key twice, or text that is not Unicode"
	}
	return err.Error()
}

// failure returns the failure an answer tells of.
func (r Response) failure() error {
	e := DecodeError(r.Call, r.Status, r.Header, r.Body)
	if r.Confidential {
		e = e.WithDetails(unquoted)
		e.Body = ""
	}
	return e
}

// notQuoted stands for what the platform said of the request.
const notQuoted = "the text of the answer is not shown, because it may contain the new secret"

// unquoted leaves the code of a detail, and the beginning of its pointer that is made of our
// own words.
func unquoted(d edge.ErrorDetail) edge.ErrorDetail {
	return edge.ErrorDetail{Code: d.Code, Message: notQuoted, Source: edge.ErrorSource{Pointer: ownPointer().FindString(d.Source.Pointer)}, Chain: d.Chain}
}

// ownPointer is a JSON pointer into the body of a creation, or how one begins.
var ownPointer = lazyregexp.New(`^(/(name|policies|permission_groups|resources|effect|id|condition|request[._]ip|in|not_in|not_before|expires_on|[0-9]{1,3})\b)+`)

func (r Response) unreadable(reason string) error {
	if r.Status >= 300 || len(r.Body) == 0 || r.Confidential {
		return fmt.Errorf("%s: %w: %s", r.Call, edge.ErrUnreadable, reason)
	}
	return fmt.Errorf("%s: %w: %s: %q", r.Call, edge.ErrUnreadable, reason, Excerpt(r.Body))
}

// jsonReason says in few words why a body is not the JSON that was expected.
func jsonReason(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err.Error() == "unexpected end of JSON input":
		return "the answer is cut short"
	case errors.As(err, &syntax):
		return fmt.Sprintf("the answer is not JSON (byte %d)", syntax.Offset)
	}
	return exactjson.Reason(err, "the result")
}

func isNull(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// DecodeError returns the failure an answer tells of.
// A body that is not an envelope, as gateways send it, is kept as an excerpt.
func DecodeError(call string, status int, header http.Header, body []byte) *edge.Error {
	e := &edge.Error{Call: call, Status: status, RetryAfter: RetryAfter(header)}
	var env Envelope
	if err := json.Unmarshal(body, &env); err == nil && exactjson.Check(body) == nil {
		e.Details = env.Errors
	}
	if len(e.Details) == 0 {
		e.Body = Excerpt(body)
	}
	return e
}
