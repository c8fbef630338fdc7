package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// status is what seawall status says of the zone after the first sweep of a daemon over the
// platform and what is on record, and its exit code. What the daemon wrote comes first.
func (s *scene) status() string {
	s.t.Helper()
	s.wire.forget()
	ctx, stop := context.WithCancel(s.t.Context())
	daemon, err := controller.New(ctx, controller.Config{
		Source:  source.New(source.Config{Source: s, Compiler: s, Schedule: cron.Every(time.Minute), Now: time.Now}),
		Records: s.records, Guards: s.guards(), Lanes: reconcile.OneLane(s.lane()), Requests: s.client.Requests,
		Sweep: cron.Every(interval), Interval: interval, Tick: time.Minute,
	})
	must.Do(s.t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		daemon.Run(ctx)
	}()
	time.Sleep(interval + 5*time.Minute)
	list, near := daemon.Zones("shop.example")
	stop()
	<-ended
	if len(list.Zones) != 1 {
		s.t.Fatalf("the daemon knows %d zones; near: %s", len(list.Zones), near)
	}
	var b strings.Builder
	b.WriteString(s.sent())
	must.Do(s.t, list.Text(&b))
	fmt.Fprintf(&b, "exit code %d\n", map[inspect.Verdict]int{inspect.Healthy: 0, inspect.Working: 2, inspect.Attention: 4}[list.Verdict()])
	return b.String()
}
