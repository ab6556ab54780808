package redis_test

import (
	"os"
	"testing"

	client "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/retake-go/retake/adapter/redis"
	"github.com/retake-go/retake/limit/limittest"
)

// envSocket is where a process of a fleet finds the server.
const envSocket = "RETAKE_TEST_REDIS"

// work is what this test binary does as one of the processes of a fleet.
func work() error {
	logging.Disable() // the server is killed, and the client would say so for each call
	db := client.NewClient(&client.Options{Network: "unix", Addr: os.Getenv(envSocket)})
	defer db.Close()
	limits, err := redis.NewLimits(db)
	if err != nil {
		return err
	}
	return limittest.Work(limits)
}

func TestARunThatIsKilledBetweenAskAndGrantAndCallGoesOn(t *testing.T) {
	limittest.Killed(t, open(t, connect(t)), envSocket+"="+server.Socket())
}

// The server loses all it had when it is killed.
func TestAFleetOutlivesKilledProcessesAndAKilledServer(t *testing.T) {
	connect(t)
	limittest.Fleet(t, server, envSocket+"="+server.Socket())
}
