-- +goose Up
-- The tables of the ledger: as store.Migrations lays them out in a file.
SELECT 1;
