package inspect

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

// TestOrders: what a daemon answers to an order, and what a client makes of it.
func TestOrders(t *testing.T) {
	type word struct {
		Say string `json:"say"`
	}
	orders := Orders{"say": func(_ context.Context, body []byte) (any, error) {
		var o word
		if err := ReadOrder(body, &o); err != nil {
			return nil, err
		}
		switch o.Say {
		case "later":
			return nil, ErrNotBegun
		case "no":
			return nil, errors.New("it says no")
		}
		return word{"said " + o.Say}, nil
	}}
	listener, err := Listen(t.TempDir())
	must.Do(t, err)
	server := &http.Server{Handler: OrderHandler(orders, func(error) string { return "ask nicely" })}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	dir := strings.TrimSuffix(listener.path, "/"+socketName)
	c := OnSocket(dir)

	var answer word
	if err := c.Order(t.Context(), "say", word{"yes"}, &answer); err != nil || answer.Say != "said yes" {
		t.Errorf("%+v: %v", answer, err)
	}
	var refused *RefusedError
	if err := c.Order(t.Context(), "say", word{"no"}, &answer); !errors.As(err, &refused) || *refused != (RefusedError{"it says no", "ask nicely"}) {
		t.Errorf("refused: %v", err)
	}
	if err := c.Order(t.Context(), "say", map[string]string{"say": "yes", "loudly": "yes"}, &answer); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "loudly") {
		t.Errorf("a member that the daemon does not know: %v", err)
	}
	if err := c.Order(t.Context(), "sing", word{}, &answer); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "earlier version") {
		t.Errorf("an order that the daemon does not know: %v", err)
	}
	if err := c.Order(t.Context(), "say", word{strings.Repeat("x", mostOrder)}, &answer); !errors.Is(err, ErrRefused) {
		t.Errorf("an order without end: %v", err)
	}
	if err := c.Order(t.Context(), "say", word{"later"}, &answer); !errors.Is(err, ErrNotBegun) {
		t.Errorf("later: %v", err)
	}
	_ = server.Close()
	<-done
	if err := c.Order(t.Context(), "say", word{"yes"}, &answer); !errors.Is(err, ErrNotBegun) {
		t.Errorf("without a daemon: %v", err)
	}
}

// TestOrdersAreOfTheSocket: what is served on an address takes none.
func TestOrdersAreOfTheSocket(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(daemon{healthy()}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, orderPath+"tokens", strings.NewReader("{}")))
	if w.Code != http.StatusNotFound {
		t.Errorf("it answers with %d", w.Code)
	}
}
