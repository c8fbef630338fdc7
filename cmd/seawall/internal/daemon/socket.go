package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// serveSocket serves the status on the socket in the state folder, until done is called.
// The daemon works without it, so what keeps it from being opened is reported, and no more.
func (d *Daemon) serveSocket(ctx context.Context) (done func()) {
	if d.settings.Dir != "" {
		return func() {} // a folder has no state folder
	}
	pages := http.NewServeMux()
	pages.Handle("/", inspect.Handler(d))
	pages.Handle("POST /", inspect.OrderHandler(d.orders(), firstHint))
	return keptSocket{dir: d.settings.StateDir, every: lookAtSocket, pages: pages, log: d.log}.serve(ctx)
}

// lookAtSocket is how often it is looked whether the socket is still there.
const lookAtSocket = 5 * time.Second

// keptSocket is the socket of a state folder that is made again where someone has removed its file,
// such as a job that cleans up.
type keptSocket struct {
	dir   string
	every time.Duration
	pages http.Handler
	log   *slog.Logger
}

// serve opens it, and serves on it until done is called.
func (k keptSocket) serve(ctx context.Context) (done func()) {
	socket, err := inspect.Listen(k.dir)
	if err != nil {
		k.log.Warn("the socket for seawall status cannot be opened", "error", err.Error(), "hint", "seawall status --address asks over listen")
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for socket != nil {
			socket = k.follow(ctx, socket)
		}
	}()
	return func() { stop(); <-ended }
}

// follow serves on a socket until ctx ends, or until it has to be replaced, which returns the next one.
func (k keptSocket) follow(ctx context.Context, socket *inspect.Socket) (next *inspect.Socket) {
	within, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- status.Serve(within, socket, k.pages) }()
	looks := time.NewTicker(k.every)
	defer looks.Stop()
	for ctx.Err() == nil && next == nil && len(served) == 0 {
		select {
		case <-ctx.Done():
		case <-looks.C:
			next = k.again(socket)
		}
	}
	stop()
	if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
		k.log.Warn("the socket for seawall status has failed", "error", err.Error())
	}
	return next
}

// again is the socket in the place of one whose file is gone; nil while that is there, or cannot be made.
func (k keptSocket) again(socket *inspect.Socket) *inspect.Socket {
	if !socket.Removed() {
		return nil
	}
	next, err := inspect.Listen(k.dir)
	if err != nil {
		k.log.Debug("the socket for seawall status cannot be made again", "error", err.Error())
		return nil
	}
	k.log.Warn("the socket for seawall status was removed, and is made again", "hint", "leave status.sock in the state folder alone: seawall status asks the daemon over it")
	return next
}
