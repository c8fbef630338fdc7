package ledger

// version5 is for the sweep: how far it has come.
const version5 = `
-- The place of the sweep: one row, or none before the first.
CREATE TABLE sweep (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	"commit" TEXT NOT NULL,    -- the last of which every change was made; empty before
	phase    INTEGER NOT NULL, -- zones before it were looked at; as in reconcile.Cursor, and negative from the middle on
	at       TEXT NOT NULL     -- when it should have come there
) STRICT;
`
