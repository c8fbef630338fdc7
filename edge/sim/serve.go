package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// stopGrace is how long requests may take to end once a server stops.
const stopGrace = 5 * time.Second

// Serve answers on the listener until ctx ends, then lets the requests that are
// under way end, and returns nil. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           markLengths(s.handler),
		ConnContext:       withConn,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(lengthListener{listener}) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving the simulator: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	err := server.Shutdown(grace)
	<-done //nolint:errcheck // it says that it was shut down
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// Greeting is the first line a simulator process writes to standard output:
// where it is and who may sign in. The tokens are made up.
type Greeting struct {
	BaseURL       string `json:"base_url"`
	RulesetsToken string `json:"rulesets_token"`
	TokensToken   string `json:"tokens_token"`
}

// Greeting is what a server on this address greets with. The rulesets token is
// the seed's token of the name "rulesets", else its first with a value; the
// tokens token is that of the name "tokens", else the last with a value.
func (s *Server) Greeting(address net.Addr) Greeting {
	g := Greeting{BaseURL: "http://" + address.String() + s.config.BasePath}
	for _, token := range s.config.Seed.Tokens {
		if token.Value == "" {
			continue
		}
		if g.RulesetsToken == "" {
			g.RulesetsToken = token.Value
		}
		g.TokensToken = token.Value
	}
	for _, token := range s.config.Seed.Tokens {
		switch {
		case token.Value == "":
		case token.Name == mem.RulesetsTokenName:
			g.RulesetsToken = token.Value
		case token.Name == mem.TokensTokenName:
			g.TokensToken = token.Value
		}
	}
	return g
}

// Write writes the greeting as one line of JSON.
func (g Greeting) Write(w io.Writer) error { return json.NewEncoder(w).Encode(g) }

// Running is a simulator that listens on this machine. Make one with [Start].
type Running struct {
	*Server

	BaseURL       string // http://127.0.0.1:PORT/client/v4
	RulesetsToken edge.Secret
	TokensToken   edge.Secret

	stop context.CancelFunc
	done chan error
}

// Start runs a simulator on a free port of 127.0.0.1 until [Running.Close].
func Start(config Config) (*Running, error) {
	s, err := New(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a port of this machine is there at once
	if err != nil {
		return nil, fmt.Errorf("listening for the simulator: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	greeting := s.Greeting(listener.Addr())
	r := &Running{
		Server: s, BaseURL: greeting.BaseURL,
		RulesetsToken: edge.NewSecret(greeting.RulesetsToken), TokensToken: edge.NewSecret(greeting.TokensToken),
		stop: stop, done: make(chan error, 1),
	}
	go func() { r.done <- s.Serve(ctx, listener) }()
	return r, nil
}

// ControlURL is the address below which the control is served, without a slash
// at its end.
func (r *Running) ControlURL() string {
	return r.BaseURL[:len(r.BaseURL)-len(r.config.BasePath)] + "/__sim"
}

// Close stops the simulator. Closing twice does nothing more.
func (r *Running) Close() error {
	r.stop()
	err := <-r.done
	r.done <- err
	return err
}
