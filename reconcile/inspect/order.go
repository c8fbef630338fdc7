package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Orders are what people may order from a daemon on its socket, by name. Each takes the JSON
// of an order, and returns a value that has a JSON form. An error that is [ErrNotBegun] says
// that nothing was done.
type Orders map[string]func(ctx context.Context, order []byte) (any, error)

// Failures of an order. Any other error leaves open whether it was carried out.
var (
	ErrNotBegun = errors.New("the daemon takes no orders now")
	// ErrRefused: the daemon has said no, or failed. The error is a [*RefusedError].
	ErrRefused = errors.New("the daemon has not carried it out")
)

// RefusedError is the daemon's own error, with what to try.
type RefusedError struct{ Reason, Hint string }

func (e *RefusedError) Error() string { return e.Reason }

// Is makes it an [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

const (
	orderPath = "/order/"
	mostOrder = 1 << 20 // bytes
)

// OrderHandler serves POST /order/NAME. It is for the socket alone, which only the daemon's
// own user and root may use. hint is what to try after an error.
func OrderHandler(orders Orders, hint func(error) string) http.Handler {
	mux := http.NewServeMux()
	for name, carryOut := range orders {
		mux.HandleFunc("POST "+orderPath+name, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // who orders bounds the wait
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostOrder))
			if err != nil {
				answer(w, http.StatusBadRequest, refusal{Error: err.Error()})
				return
			}
			done, err := carryOut(r.Context(), body)
			switch {
			case errors.Is(err, ErrNotBegun):
				answer(w, http.StatusServiceUnavailable, refusal{Error: err.Error()})
			case err != nil:
				answer(w, http.StatusConflict, refusal{Error: err.Error(), Hint: hint(err)})
			default:
				answer(w, http.StatusOK, done)
			}
		})
	}
	return mux
}

// ReadOrder decodes an order. A member that this program does not know is an error: what it
// means would be left out.
func ReadOrder(data []byte, order any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(order); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	return nil
}

// Order has a daemon carry out an order, and reads its answer into a value. It waits until
// ctx ends.
func (c Client) Order(ctx context.Context, name string, order, value any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+orderPath+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	patient := *c.HTTP
	patient.Timeout = 0
	response, err := patient.Do(request)
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return readAnswer(response.StatusCode, data, value)
}

func readAnswer(status int, data []byte, value any) error {
	var r refusal
	switch status {
	case http.StatusOK:
		if err := json.Unmarshal(data, value); err != nil {
			return fmt.Errorf("%w: its answer cannot be read: %w", ErrNoAnswer, err)
		}
		return nil
	case http.StatusServiceUnavailable:
		return ErrNotBegun
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return &RefusedError{"the daemon does not know this order: it is of an earlier version", "restart the daemon"}
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Error == "" {
		return fmt.Errorf("%w: it answers with status %d", ErrNoAnswer, status)
	}
	return &RefusedError{r.Error, r.Hint}
}
