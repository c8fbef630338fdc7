package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// direct are connections on which nothing is prepared: a statement that database/sql prepares is
// kept as its text, and sent as a whole each time. Behind PgBouncer in transaction mode one that
// is prepared stays with a connection to the server that others get.
type direct struct{ driver.Connector }

func (d direct) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, plainly(err)
	}
	conn, ok := c.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(errors.New("the driver is another one"), c.Close())
	}
	return &directConn{Conn: conn}, nil
}

type directConn struct {
	*stdlib.Conn
	late  pgx.Batch // statements of the transaction that are not sent yet; see [Late]
	waits bool      // there is a transaction that sends them before its end
}

func (c *directConn) Prepare(text string) (driver.Stmt, error) { return directText{c, text}, nil }

func (c *directConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return directText{c, text}, nil
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c *directConn) CheckNamedValue(arg *driver.NamedValue) error {
	arg.Value = sent(arg.Value)
	return c.Conn.CheckNamedValue(arg)
}

// sent is an argument in which a text is what a text of the server can hold: a file takes any bytes,
// and whoever has made them, be it another server or the author of a commit, does not ask.
func sent(arg any) any {
	switch value := arg.(type) {
	case string:
		return ValidText(value)
	case sql.NullString:
		value.String = ValidText(value.String)
		return value
	case driver.Valuer:
		return value
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
		return ValidText(v.String())
	}
	return arg
}

// ValidText is a text with U+FFFD for what is no UTF-8, and for NUL.
func ValidText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

type directText struct {
	conn *directConn
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
