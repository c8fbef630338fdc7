package client

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// freshCount is for how long what other processes have left is taken to be so.
const freshCount = time.Second

// Room returns how many requests of a class may be sent now by who is in no hurry:
// without waiting, and so that some of the budget stays free for who is. To other processes
// the class counts as one that waits.
func (b *Budget) Room(c edge.Class, urgent int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, now := b.share, b.now()
	if s != nil && s.visit == nil && now.Sub(s.purses[c].asked) >= freshCount && !now.Before(s.purses[c].next) {
		s.purses[c].asked = now
		b.meet(c, 0, true)
		now = b.now()
	}
	b.forget(now)
	left := b.state(now, c).Left - urgent
	if s != nil && !s.failing {
		// What stays free for pushes is not in the room of other classes.
		more := max(0, urgent-min(keptForUrgent, s.Quota/10))
		left = min(left, s.spare()+s.free-urgent, s.purses[c].spare+s.rooms[c]-more)
	}
	return max(0, left)
}

// supply asks the store for requests of a class, where there is none left to take and it is
// time to ask. It reports whether it did, and has unlocked the budget meanwhile.
func (b *Budget) supply(now time.Time, c edge.Class) bool {
	s := b.share
	if s == nil || s.visit != nil {
		return false
	}
	p := &s.purses[c]
	fresh := p.fresh(now)
	if p.spare > 0 && fresh || now.Before(p.next) {
		return false
	}
	p.size = min(p.size*2, mostTaken, s.Quota/shareOfQuota)
	if p.size = max(p.size, 1); !fresh {
		p.size = 1
	}
	b.meet(c, p.size, false)
	return true
}

// Close gives back what other processes may use. The budget goes on working.
func (b *Budget) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.share; s != nil {
		if s.idle != nil && s.idle.Stop() {
			s.idle = nil // there will be nothing left to give back
		}
		b.awaitVisit()
		s.giveBack(time.Time{}, true)
		b.meet(s.Class, 0, false)
	}
}

// rest gives back what is not used, once nothing was sent for a while.
func (b *Budget) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaitVisit()
	s, now := b.share, b.now()
	s.idle = nil
	switch left := idleAfter - now.Sub(s.used); {
	case b.inFlight > 0: // the end of the last one comes here again
	case left > 0:
		s.idle = time.AfterFunc(left, b.rest)
	default:
		s.giveBack(now, true)
		b.meet(s.Class, 0, false)
	}
}

// awaitVisit waits until no visit is under way. It unlocks the budget meanwhile.
func (b *Budget) awaitVisit() {
	for visit := b.share.visit; visit != nil; visit = b.share.visit {
		b.mu.Unlock()
		<-visit
		b.mu.Lock()
	}
}

// meet visits the store, and asks for requests of a class. It unlocks the budget meanwhile, as
// a database may take its time: requests that were taken go on. There is one visit at a time,
// since each tells what the process holds.
func (b *Budget) meet(c edge.Class, want int, waits bool) {
	b.awaitVisit()
	s, now := b.share, b.now()
	s.giveBack(now, false)
	paused := b.resume
	if paused.Equal(s.heard) {
		paused = time.Time{} // the others know, and to tell them would make it longer each time
	}
	v := visit{per: b.per, quota: s.Quota, holder: s.holder, held: s.holds(), class: c, want: want, waits: waits}
	told := s.ended
	var got bargain
	s.visit = make(chan struct{})
	b.mu.Unlock()
	err := s.Store.Update(func(w *Window, at time.Time) {
		v.now, v.ended = at, countsAt(at, now, told, b.per)
		if !paused.IsZero() {
			v.resume = at.Add(paused.Sub(now))
		}
		got = w.trade(v)
	})
	b.mu.Lock()
	close(s.visit)
	s.visit = nil
	if err != nil {
		b.fail(err)
		return
	}
	s.ended = s.ended[len(told):]
	b.got(now, v, got)
}

// countsAt has requests that ended count by the clock of the store. That says at, now or a little
// later: the difference makes them count for longer, never for less.
func countsAt(at, now time.Time, told []answered, per time.Duration) (counts []Count) {
	for _, e := range told {
		if ago := now.Sub(e.at); ago < per {
			counts = addCount(counts, Count{grain(at.Add(-ago), per), e.n, e.class})
		}
	}
	return counts
}

// got notes what a visit that began at a time has brought.
func (b *Budget) got(began time.Time, v visit, got bargain) {
	s := b.share
	if got.lost {
		s.Tell(ErrCountLost)
	}
	if s.failing {
		for i := range s.purses {
			s.purses[i].next = time.Time{}
		}
	}
	s.failing, s.free, s.rooms = false, got.free, got.rooms
	if v.want > 0 {
		p := &s.purses[v.class]
		p.spare, p.useBy, p.next, p.more = p.spare+got.granted, began.Add(useBy), time.Time{}, time.Time{}
		if !got.next.IsZero() {
			p.next = b.now().Add(got.next.Sub(v.now))
		}
		if !got.more.IsZero() {
			p.more = b.now().Add(got.more.Sub(v.now))
		}
	}
	if resume := began.Add(got.resume.Sub(v.now)); resume.After(b.resume) {
		b.resume, s.heard = resume, resume
	}
}

// fail notes that the store could not be visited. What was taken may be used to its end: it
// counts there.
func (b *Budget) fail(err error) {
	s, now := b.share, b.now()
	if !s.failing {
		s.Tell(err)
	}
	s.failing = true
	for i := range s.purses {
		s.purses[i].next = now.Add(retry.Count.First)
	}
	for len(s.ended) > 0 && now.Sub(s.ended[0].at) >= b.per {
		s.ended = s.ended[1:]
	}
}
