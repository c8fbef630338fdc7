package ledger

// version2 holds what is known of tokens. The reference shows no way to read
// them, so a token that is not in here may still be on the platform: that is
// what completeness is about.
const version2 = `
-- Attempts to create a token. There is one row for each POST that was sent or
-- was about to be; a refusal that is certain removes it.
CREATE TABLE token (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which attempts began
	intent    TEXT NOT NULL UNIQUE CHECK (intent <> ''),
	key       TEXT NOT NULL,    -- of the declaration; a replaced token has the key of its successor
	state     TEXT NOT NULL CHECK (state IN ('intended', 'confirmed', 'quarantined')),
	id        TEXT CHECK (id <> ''), -- the platform's
	spec      TEXT NOT NULL,    -- JSON: the body that was sent, as edge.TokenSpec; it holds no secret
	hash      TEXT NOT NULL,    -- of spec, as in diff.TokenRecord
	sink_name TEXT,             -- where the secret goes; both or neither
	sink_key  TEXT,
	delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered IN (0, 1)),
	reason    TEXT NOT NULL DEFAULT '', -- why the outcome is, or was, unknown
	at        TEXT,             -- when the attempt began
	CHECK ((state = 'confirmed') = (id IS NOT NULL)),
	CHECK (state = 'confirmed' OR NOT delivered),
	CHECK ((sink_name IS NULL) = (sink_key IS NULL))
) STRICT;

CREATE INDEX token_key ON token (key);

-- Secrets of confirmed tokens that are not delivered yet.
CREATE TABLE sealed (
	intent TEXT PRIMARY KEY REFERENCES token (intent) ON DELETE CASCADE,
	copy   BLOB NOT NULL        -- an age file; inside it the intent, a line feed, the secret
) STRICT;

-- A person's word that the rows of token are all there are: one row, or none
-- before the first. It speaks of one platform and one repository.
CREATE TABLE completeness (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	platform   TEXT NOT NULL,    -- SHA-256 of its base URL, hexadecimal
	repository TEXT NOT NULL,    -- SHA-256 of its URL, hexadecimal
	serial     TEXT NOT NULL,    -- random; another with each word that is given
	generation INTEGER NOT NULL, -- grows with each row that token gets; the mark beside the ledger knows it too
	at         TEXT              -- when the word was given
) STRICT;
`
