package ledger

// version3 is for tokens that Seawall updates and deletes.
//
// The hash of token is of the specification as declared from here on; spec stays
// the body that was sent, with a computed window and a suffix of the name. In
// rows of version 2 the two are of the same specification.
const version3 = `
-- 1: the declaration, when last seen, allows the token to be deleted once nothing
-- declares it. Of rows from before nobody has said so.
ALTER TABLE token ADD COLUMN prune INTEGER NOT NULL DEFAULT 0 CHECK (prune IN (0, 1));

-- How many tokens the accepted commit declares; 0 also where that was not counted.
ALTER TABLE accepted ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
`
