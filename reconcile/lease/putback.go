package lease

import "bytes"

// ends are those of the history, by which a database that was put back to an earlier time is told from
// one that has gone on: the hash of an entry is that of all before it, too.
type ends struct {
	hash    []byte // of the newest entry
	base    int64  // entries up to this one are not kept any more
	earlier []byte // of the entry that was the newest with the look before; nil: it is not there
}

// putBack reports whether the database is that of an earlier time than with the look before. Of what
// has no entry in the history, the numbers tell: they only grow, but that what counts for limits is
// forgotten with the next commit.
func (l Look) putBack(before Look) bool {
	if before.At.IsZero() {
		return false
	}
	was, is := before.News, l.News
	switch {
	case is.Newest < was.Newest, is.Poked < was.Poked, is.Counted < was.Counted && is.Said == was.Said:
		return true
	case was.Newest == 0 || was.Newest <= l.history.base:
		return false
	}
	return !bytes.Equal(l.history.earlier, before.history.hash)
}
