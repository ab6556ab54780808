package postgres_test

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/session"
)

// A session whose journal is in PostgreSQL. Any process of the fleet resumes it.
func Example() {
	work := func(ctx context.Context) error {
		pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		store, err := postgres.New(ctx, pool, postgres.Settings{})
		if err != nil {
			return err
		}
		defer store.Close()
		j, err := journal.Open(ctx, store, "order-42", journal.Settings{})
		if err != nil {
			return err
		}
		defer j.Close()
		_, err = session.New(session.Config{Journal: j}) // and run it
		return err
	}
	fmt.Println(work != nil)
	// Output: true
}
