package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// direct are connections on which nothing is prepared: a statement that database/sql prepares is
// kept as its text, and sent as a whole each time. Behind PgBouncer in transaction mode one that
// is prepared stays with a connection to the server that others get.
type direct struct{ driver.Connector }

func (d direct) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(errors.New("the driver is another one"), c.Close())
	}
	return directConn{conn}, nil
}

type directConn struct{ *stdlib.Conn }

func (c directConn) Prepare(text string) (driver.Stmt, error) { return directText{c, text}, nil }

func (c directConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return directText{c, text}, nil
}

// CheckNamedValue has texts be what a text of the server can hold: a file takes any bytes, and whoever
// has made them, be it a server of another or the author of a commit, does not ask.
func (c directConn) CheckNamedValue(arg *driver.NamedValue) error {
	switch value := arg.Value.(type) {
	case string:
		arg.Value = validText(value)
	case sql.NullString:
		value.String = validText(value.String)
		arg.Value = value
	case driver.Valuer:
	default:
		if v := reflect.ValueOf(value); v.Kind() == reflect.String {
			arg.Value = validText(v.String())
		}
	}
	return c.Conn.CheckNamedValue(arg)
}

// validText is a text with U+FFFD for what is no UTF-8, and for NUL.
func validText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

type directText struct {
	conn directConn
	text string
}

func (directText) Close() error  { return nil }
func (directText) NumInput() int { return -1 } // the server counts them

func (t directText) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return t.conn.ExecContext(ctx, t.text, args)
}

func (t directText) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return t.conn.QueryContext(ctx, t.text, args)
}

var errNoContext = errors.New("a statement needs a context")

func (directText) Exec([]driver.Value) (driver.Result, error) { return nil, errNoContext }
func (directText) Query([]driver.Value) (driver.Rows, error)  { return nil, errNoContext }
