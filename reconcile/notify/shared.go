package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/jobs"
)

// wordRoute is what replicas tell each other of a route: "route/ops" is why it does not work.
const wordRoute = "route"

const (
	// finishWithin is what a job may take beside the time of its message.
	finishWithin = 3 * time.Second
	// remindEvery is how often messages that wait get a job where they have none: it was tried too
	// often.
	remindEvery = time.Minute
	// configureAgain is how soon a job is tried again by a replica that has no such route: a new
	// configuration reaches one after the other.
	configureAgain = 10 * time.Second
)

// shared has messages sent by whichever replica is free: of each route the first that waits is a
// job, and the next one is once that is sent. A nil shared is of a process that is the only one.
type shared struct {
	outbox reconcile.SharedOutbox
	jobs   *jobs.Replicas
	config Config
	looks  int

	mu    sync.Mutex
	wrong map[string]string // why routes do not work
}

// Join has messages sent by whichever replica is free. The outbox inserts a job with each message
// that becomes the first of its route. To be called before anything runs.
func (s *Service) Join(r *jobs.Replicas, outbox reconcile.SharedOutbox) {
	s.others = &shared{outbox: outbox, jobs: r, config: s.config, wrong: map[string]string{}}
	r.Poked(wordRoute, s.others.hear)
	if len(s.config.Routes) > 0 {
		r.Work(jobs.Delivery, jobs.Worker{Do: s.others.do, AtOnce: atOnce, Within: timeout + finishWithin})
	}
}

// atOnce is how many messages one replica sends at the same time, each to another route.
const atOnce = 4

// begin has the messages that wait looked for with the first look.
func (o *shared) begin() {
	if o != nil {
		o.looks = 0
	}
}

// take has the others send what waits for a route.
func (o *shared) take(d *delivery) *delivery {
	if o != nil {
		d.others, d.posted, d.waiting = o, len(d.waiting), nil
	}
	return d
}

// waiting is how many messages wait for a route; before, where that is not known.
func (o *shared) waiting(ctx context.Context, route string, before int) int {
	all, err := o.outbox.Waiting(ctx)
	if err != nil {
		return before
	}
	return all[route].Messages
}

// remind has the messages sent that wait first, if their jobs are lost.
func (o *shared) remind(ctx context.Context) {
	all, err := o.outbox.Waiting(ctx)
	for _, route := range slices.Sorted(maps.Keys(all)) {
		err = errors.Join(err, o.jobs.Insert(ctx, jobs.Job{Kind: jobs.Delivery, Route: route, Message: all[route].First}))
	}
	if err != nil && ctx.Err() == nil {
		o.config.Log.DebugContext(ctx, "messages that wait could not be given to replicas; it is tried again", "error", err.Error())
	}
}

// due counts looks, which come at equal times: it is true at the first one, and now and then.
func (o *shared) due() bool {
	if o == nil {
		return false
	}
	o.looks++
	return o.looks%int(remindEvery/o.config.every) == 1
}

// do sends a message, and forgets it, which has the next one sent.
func (o *shared) do(ctx context.Context, j jobs.Job) error {
	body, waits, err := o.outbox.Message(ctx, j.Message)
	if err != nil || !waits {
		return err
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("message %s: %w", j.Message, err)
	}
	at := slices.IndexFunc(o.config.Routes, func(r Route) bool { return r.Name == m.Route })
	if at < 0 {
		return jobs.LaterError(configureAgain)
	}
	told := o.config
	told.Failed = func(route string, err error) { o.tell(ctx, route, edge.Redact(err.Error())) }
	told.Worked = func(route string) { o.tell(ctx, route, "") }
	switch outcome := o.config.Routes[at].attempt(ctx, told, m); outcome {
	case OutcomeFailed:
		return errors.New("it was not sent")
	case outcomeOver:
		return ctx.Err()
	}
	return o.outbox.Posted(context.WithoutCancel(ctx), m.ID)
}

// tell tells all replicas how sending to a route goes, if that is news: the one that leads reports
// it to the other routes.
func (o *shared) tell(ctx context.Context, route, wrong string) {
	o.mu.Lock()
	known := o.wrong[route] == wrong
	o.mu.Unlock()
	if known {
		return
	}
	if err := o.jobs.Note(context.WithoutCancel(ctx), wordRoute+"/"+route, wrong); err != nil {
		o.config.Log.DebugContext(ctx, "other replicas do not know how sending to a route goes", "route", route, "error", err.Error())
	}
}

// hear notes how sending to a route goes.
func (o *shared) hear(route, wrong string) {
	o.mu.Lock()
	o.wrong[route] = wrong
	o.mu.Unlock()
	if wrong == "" {
		o.config.Worked(route)
		return
	}
	o.config.Failed(route, errors.New(wrong))
}
