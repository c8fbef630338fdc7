package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func Connect(ctx context.Context, c postgres.Config, dir string) (*Ledger, error) { return nil, errors.New("stub") }
func ConnectReadOnly(ctx context.Context, c postgres.Config, dir string) (*Ledger, error) { return nil, errors.New("stub") }
func (l *Ledger) Database() *sql.DB { return nil }
