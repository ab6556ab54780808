package redis

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/retake-go/retake/limit/limiter"
)

// Prefix begins the names of the keys, one for each scope: the scope follows.
const Prefix = "retake:limit:"

// Limits is a [limiter.Store] in Redis, from version 5 on. Make it with [NewLimits]. It is safe for
// concurrent use.
type Limits struct{ db client.Scripter }

// NewLimits returns the records in the database of a client, which is yours and is not closed: one of a
// server, of a cluster, or of sentinels. Nothing is sent yet.
func NewLimits(db client.Scripter) (*Limits, error) {
	if none := reflect.ValueOf(db); db == nil || none.Kind() == reflect.Pointer && none.IsNil() {
		return nil, errors.New("redis: the client is nil: give one, such as redis.NewClient makes")
	}
	return &Limits{db}, nil
}

// load returns the version, the value and the time of the server in seconds and microseconds.
var load = client.NewScript(`
local record = redis.call('HMGET', KEYS[1], 'version', 'value')
local now = redis.call('TIME')
return {record[1] or '0', record[2] or '', now[1], now[2]}`)

// swap replaces a record of version ARGV[1] by version ARGV[2]. A client repeats what it got no answer to:
// what was done already is done.
var swap = client.NewScript(`
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version ~= ARGV[2] then
	if version ~= ARGV[1] then
		return 0
	end
	redis.call('HSET', KEYS[1], 'version', ARGV[2], 'value', ARGV[3])
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1`)

// kept is how long a record is kept that nobody replaces, in seconds.
const kept = 2 * 60 * 60

// Load implements [limiter.Store].
func (l *Limits) Load(ctx context.Context, scope string) (r limiter.Record, err error) {
	said, err := load.Run(ctx, l.db, []string{Prefix + scope}).StringSlice()
	if err == nil && len(said) != 4 {
		err = fmt.Errorf("the script answered with %d values", len(said))
	}
	if err != nil {
		return r, failed(scope, err)
	}
	var numbers [3]int64
	for n, text := range []string{said[0], said[2], said[3]} {
		if numbers[n], err = strconv.ParseInt(text, 10, 64); err != nil {
			return r, failed(scope, err)
		}
	}
	r.Version, r.Now = numbers[0], time.Unix(numbers[1], numbers[2]*1000).UTC()
	if r.Version != 0 {
		r.Value = []byte(said[1])
	}
	return r, nil
}

// Swap implements [limiter.Store]. Versions are random, so that none comes again if the server has lost a
// record.
func (l *Limits) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	swapped, err := swap.Run(ctx, l.db, []string{Prefix + scope}, version, newVersion(), value, kept).Bool()
	return swapped, failed(scope, err)
}

// newVersion returns a number that was never a version.
func newVersion() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return int64(binary.BigEndian.Uint64(random[:])>>1) | 1
}

// failed adds the scope to an error.
func failed(scope string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis: limits of scope %q: %w", scope, err)
}
