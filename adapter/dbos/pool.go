package dbos

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxConns is how many connections DBOS's own pool has, unless its address says otherwise.
const maxConns = 20

// Pool returns connections to a PostgreSQL server, for [sdk.Config].SystemDBPool in place of DatabaseURL. A
// server that stops or is killed then costs no run: DBOS tries again after every error of a connection. With
// DatabaseURL it does not after one that the server closes while it answers, and ends the workflow with that
// error. The database must be there, which DBOS makes only with DatabaseURL. The address may have the
// settings of pgxpool, such as pool_max_conns. Close the pool once DBOS has shut down. No connection is made
// yet.
func Pool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(url, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	cfg.ConnConfig.ConnectTimeout = 10 * time.Second
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return conn{c}, nil
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// conn is a connection whose end is an error of the network.
type conn struct{ net.Conn }

var errClosed = errors.New("the server has closed the connection")

func (c conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) {
		err = &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: errClosed}
	}
	return n, err
}
