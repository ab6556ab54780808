package redis_test

import (
	"context"
	"fmt"

	client "github.com/redis/go-redis/v9"

	"github.com/retake-go/retake/adapter/redis"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// All processes that do this with one Redis keep one limit together.
func Example() {
	search := func(ctx context.Context) error {
		limits, err := redis.NewLimits(client.NewClient(&client.Options{Addr: "localhost:6379"}))
		if err != nil {
			return err
		}
		l, err := limiter.New(limiter.Config{Store: limits})
		if err != nil {
			return err
		}
		grant, err := l.Acquire(ctx, limiter.Ask{Scope: "search-api"})
		if err != nil {
			return err
		}
		// make the call
		l.Settle(grant, limiter.Use{Outcome: limit.Served})
		return nil
	}
	fmt.Println(search != nil)
	// Output: true
}
