package otel

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// Other replaces every name, class and reason that is not shown. It is the conventions' own value.
const Other = "_OTHER"

// The attributes of the conventions. They are written out because the conventions are still in
// development: with the semconv package a library would bind its users to one version of it.
const (
	operationName   = attribute.Key("gen_ai.operation.name")
	providerName    = attribute.Key("gen_ai.provider.name")
	agentName       = attribute.Key("gen_ai.agent.name")
	conversationID  = attribute.Key("gen_ai.conversation.id")
	requestModel    = attribute.Key("gen_ai.request.model")
	responseModel   = attribute.Key("gen_ai.response.model")
	requestTemp     = attribute.Key("gen_ai.request.temperature")
	requestTokens   = attribute.Key("gen_ai.request.max_tokens")
	requestStop     = attribute.Key("gen_ai.request.stop_sequences")
	requestStream   = attribute.Key("gen_ai.request.stream")
	outputType      = attribute.Key("gen_ai.output.type")
	responseID      = attribute.Key("gen_ai.response.id")
	finishReasons   = attribute.Key("gen_ai.response.finish_reasons")
	inputTokens     = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens    = attribute.Key("gen_ai.usage.output_tokens")
	cacheReadTokens = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	cacheMadeTokens = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	reasoningTokens = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	tokenType       = attribute.Key("gen_ai.token.type")
	toolName        = attribute.Key("gen_ai.tool.name")
	toolCallID      = attribute.Key("gen_ai.tool.call.id")
	toolType        = attribute.Key("gen_ai.tool.type")
	errorType       = attribute.Key("error.type")
	serverAddress   = attribute.Key("server.address")
	serverPort      = attribute.Key("server.port")
	mcpMethod       = attribute.Key("mcp.method.name")
	mcpSession      = attribute.Key("mcp.session.id")
	mcpVersion      = attribute.Key("mcp.protocol.version")
	transport       = attribute.Key("network.transport")
)

// The names that the conventions lack.
const (
	plane            = attribute.Key("retake.plane")
	reason           = attribute.Key("retake.reason")
	reducerName      = attribute.Key("retake.reducer")
	failureClass     = attribute.Key("retake.failure.class")
	turn             = attribute.Key("retake.turn")
	attempt          = attribute.Key("retake.attempt")
	maxAttempts      = attribute.Key("retake.max_attempts")
	transportAttempt = attribute.Key("retake.transport.attempt")
	delaySeconds     = attribute.Key("retake.delay_seconds")
	resumed          = attribute.Key("retake.resumed")
	limiterScope     = attribute.Key("retake.limiter.scope")
	limiterOutcome   = attribute.Key("retake.limiter.outcome")
	limiterResource  = attribute.Key("retake.limiter.resource")
	limiterPeriod    = attribute.Key("retake.limiter.period_seconds")
)

// names are the names that are shown: a fixed set, or the first ones. It is safe for concurrent use.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
	room int
}

// firstNames shows the first names, up to a number.
func firstNames(most int) *names { return &names{seen: map[string]bool{}, room: most} }

// fixedNames shows the given names.
func fixedNames[S ~string](all []S) *names {
	n := firstNames(0)
	for _, name := range all {
		n.seen[string(name)] = true
	}
	return n
}

// of returns the name if it is shown, else Other.
func (n *names) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[name] {
		if n.room == 0 {
			return Other
		}
		n.room--
		n.seen[name] = true
	}
	return name
}

// toolNames are the names of tools that metrics show.
func (c Config) toolNames() *names {
	if c.Tools != nil {
		return fixedNames(c.Tools)
	}
	return firstNames(c.maxNames())
}

func (c Config) maxNames() int {
	if c.MaxNames == 0 {
		return DefaultMaxNames
	}
	return c.MaxNames
}

// classNames are the classes that are shown.
func (c Config) classNames() *names {
	all := append([]fault.Class{"low_confidence", "not_accepted"}, c.Classes...)
	all = append(all, fault.Transport.Classes()...)
	return fixedNames(append(all, fault.Correction.Classes()...))
}

var reasons = fixedNames(policy.Reasons())
