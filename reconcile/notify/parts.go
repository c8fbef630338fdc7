package notify

import (
	"context"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
)

// Divide has each part told of under its own lease, by [Service.RunPart]; [Service.Run] tells of what
// concerns all. taken reports whether some replica has a lease, of whatever configuration. To be
// called before anything runs, and after [Service.Join].
func (s *Service) Divide(taken func(reconcile.LeaseName) bool, parts ...Part) {
	s.taken, s.parts = taken, map[reconcile.LeaseName]*share{}
	for _, p := range parts {
		s.parts[p.Lease] = &share{Part: p, config: s.config, others: s.others}
	}
}

// Leases are those of the parts, sorted.
func (s *Service) Leases() []reconcile.LeaseName { return slices.Sorted(maps.Keys(s.parts)) }

// RunPart is [Service.Run] for a part. ctx is under its lease.
func (s *Service) RunPart(ctx context.Context, lease reconcile.LeaseName) {
	part := s.parts[lease]
	part.begin()
	read := func(ctx context.Context) error {
		kept, err := s.config.Outbox.Notified(ctx)
		if err != nil {
			return err
		}
		return part.take(kept)
	}
	if part.recall(ctx, read) {
		part.run(ctx, func() {})
	}
}

// adopt takes over what was told of parts that are not configured any more: no one else would say
// that it has ended. What a replica has that runs with another configuration stays its own.
func (s *Service) adopt(ctx context.Context) {
	kept, err := s.config.Outbox.Notified(ctx)
	for _, d := range s.routes {
		for _, part := range slices.Sorted(maps.Keys(kept[d.Name].Parts)) {
			lease := reconcile.LeaseName(part)
			if s.parts[lease] != nil || s.taken != nil && s.taken(lease) {
				continue
			}
			var known Known
			if known, err = knownOf(kept[d.Name], part); err != nil {
				break
			}
			d.judge.adopt(known.Open)
			err = keep(ctx, s.config.Outbox, d.Name, "", Known{d.open(), d.digested}, nil)
			if err == nil {
				err = s.config.Outbox.Post(ctx, d.Name, part, nil, nil)
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		s.config.Log.DebugContext(ctx, "what was told of credentials that are not configured any more could not be taken over; it is tried again", "error", err.Error())
	}
}
