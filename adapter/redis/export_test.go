package redis

import "context"

// SwapTo is a swap with the version that the record gets.
func SwapTo(ctx context.Context, l *Limits, scope string, version, to int64, value string) (bool, error) {
	return swap.Run(ctx, l.db, []string{Prefix + scope}, version, to, value, kept).Bool()
}
