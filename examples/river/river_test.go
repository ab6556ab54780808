package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	if os.Getenv(envWorker) != "" {
		main()
		return
	}
	m.Run()
}

// number is a number of the environment.
func number(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// Processes are killed in the middle of jobs. All sessions end, and each of their payments is made once.
func TestKilledProcessesPayOnce(t *testing.T) {
	server, err := postgrestest.Start()
	if errors.Is(err, postgrestest.ErrNone) && os.Getenv("RETAKE_FLEET") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer server.Close()
	usual := 3
	if testing.Short() {
		usual = 1
	}
	kills := number(t, "RETAKE_KILLS", usual)
	f := fleet{url: server.URL(), sessions: number(t, "RETAKE_SESSIONS", 25*kills), processes: 3, kills: kills, done: map[string]bool{}}
	require.NoError(t, f.run(t.Context()))
	require.NoError(t, f.account(t.Context(), os.Stderr))
	assert.Len(t, f.done, f.sessions)
	assert.Equal(t, f.kills, f.killed)

	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT session || ' ' || receiver || ' ' || sum FROM payment`)
	require.NoError(t, err)
	paid, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	var want []string
	for n := range f.sessions {
		for _, p := range due {
			want = append(want, fmt.Sprintf("order-%d %s %d", n, p.To, p.Sum))
		}
	}
	assert.ElementsMatch(t, want, paid, "each payment once, by one key")
}
