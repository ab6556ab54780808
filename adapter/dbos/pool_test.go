package dbos

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// DBOS tries again after errors of the network, and not after the end of what it reads.
func TestTheEndOfAConnectionIsAnErrorOfTheNetwork(t *testing.T) {
	server, client := net.Pipe()
	require.NoError(t, server.Close())
	_, err := conn{client}.Read(make([]byte, 1))
	var network net.Error
	require.ErrorAs(t, err, &network)
	assert.ErrorIs(t, err, errClosed)
}

func TestAPoolHasAsManyConnectionsAsItsAddressSays(t *testing.T) {
	for url, most := range map[string]int32{
		"postgres://localhost/trip": maxConns, "postgres://localhost/trip?pool_max_conns=7": 7,
	} {
		pool, err := Pool(t.Context(), url)
		require.NoError(t, err)
		defer pool.Close()
		assert.Equal(t, most, pool.Config().MaxConns)
	}
	_, err := Pool(t.Context(), "postgres://localhost:port/trip")
	require.Error(t, err)
}
