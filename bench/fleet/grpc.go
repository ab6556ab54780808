package fleet

import (
	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// The example of the proposal, in tenths of a token.
const (
	grpcTokens = 100
	grpcFailed = 10
	grpcServed = 1
)

// grpc is gRPC's throttling of retries, a client for each process:
// https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs.
// Failures take from a budget that successes fill slowly, and below half of it nothing is tried again. First
// attempts are never held.
type grpc struct{ tokens int }

func newGRPC(*simulate.Clock) simulate.Limiter { return &grpc{grpcTokens} }

// Ask implements [simulate.Limiter].
func (*grpc) Ask(_ *simulate.Call, grant func()) { grant() }

// Settle implements [simulate.Limiter].
func (g *grpc) Settle(_ *simulate.Call, o limit.Outcome, _ *ratelimit.State) bool {
	if o == limit.Served {
		g.tokens = min(g.tokens+grpcServed, grpcTokens)
	} else {
		g.tokens = max(g.tokens-grpcFailed, 0)
	}
	return g.tokens > grpcTokens/2
}
