// Package queue is the work queue of a controller: it says what to look at next, when,
// why, and how urgent that is.
//
// It holds one item for each key, such as the entry point of a zone. Items are
// level-triggered: an item says that its key is to be read, not what changed, and
// the worker that gets it acts on what is desired then. So an item that is set again
// before it was handed out is still one item, and the queue can be thrown away and
// filled again from the desired state.
//
//	q := queue.New[Key](queue.Config[Key]{Workers: 16, Admit: budget.Admits})
//
// What comes in: [Queue.Set] when something is due, now or at a later time;
// [Queue.Sooner] when a key should be read by some time at the latest, whatever is
// planned for it already; [Queue.Remove] when a key is gone; [Queue.Wake] when the
// request budget has room again. What goes out: each worker runs
//
//	for {
//		it, err := q.Next(ctx) // waits
//		if err != nil {
//			return err // ctx ended
//		}
//		again, later := work(ctx, it)
//		q.Done(it.Key, &queue.Item[Key]{Due: later, Priority: again, Reason: "..."})
//	}
//
// A key is at work once at most. What is set while it is at work comes when that is
// done, and what is removed then does not come again.
//
// Which item is next: one that is due, that Admit lets begin, and that has a worker
// place. Among those a [Push] is first, except that one hand-out in 8 goes to another
// priority; Bulk, Released, Retry and Sweep share the others 8:4:2:2. So a priority with
// an item that may begin has at least one of 88 hand-outs (of 99 if there are slow
// items, see below). Within a priority the item that is due first is next, and of
// those due at the same time the one set first. Slow items, whose last try was slow
// or broken, have shares of their own: they use a part of the worker places at most,
// and one that has to wait for a place holds no other item back. [Snapshot] lists all
// items with their reasons, for status; [Stats] counts them, for metrics.
//
// Why not another queue: the workqueue of client-go has no priorities. The
// priorityqueue of controller-runtime brings 435 more packages into the binary; in it
// an urgent item waits behind 1,000 others of its priority, adding a key again with a
// later time or a lower priority has no effect, and items cannot be removed, cannot be
// listed and have no reasons.
package queue
