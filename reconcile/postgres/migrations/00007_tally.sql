-- +goose Up
-- How far the sweep of the zones under each lease has come.
CREATE TABLE sweep_under (
    lease TEXT COLLATE "C" PRIMARY KEY,
    at    TEXT COLLATE "C" NOT NULL
);

-- What the limits of all processes count, before it is changed; see reconcile.Counts. The numbers
-- grow in the order in which the rows are seen: one process writes at a time.
CREATE TABLE tally (
    number   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    zone_id  TEXT COLLATE "C" NOT NULL,
    "commit" TEXT COLLATE "C" NOT NULL, -- empty: a drift is corrected
    at       TEXT COLLATE "C" NOT NULL,
    weakens  BIGINT NOT NULL CHECK (weakens IN (0, 1)),
    process  TEXT COLLATE "C" NOT NULL
);
