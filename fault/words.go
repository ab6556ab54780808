package fault

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retake-go/retake/internal/httphint"
)

// maxGap is how many words a "*" in a phrase stands for at most.
const maxGap = 8

// phraseRule is a class and phrases that mean it. Loose ones count only if nothing else is known. The others
// may also be more exact than a bare status.
type phraseRule struct {
	class   Class
	loose   bool
	phrases []string
}

// phraseRules are the rules in order of precedence.
var phraseRules = sync.OnceValue(func() (rules []phraseRule) {
	for line := range strings.Lines(strings.TrimSpace(phraseTable)) {
		class, phrases, _ := strings.Cut(strings.TrimSpace(line), ": ")
		class, loose := strings.CutSuffix(class, "?")
		rules = append(rules, phraseRule{Class(class), loose, strings.Split(phrases, ", ")})
	}
	return rules
})

// phraseTable has a class and phrases a line, in order of precedence; a "?" after the class marks loose ones.
// Phrases are in lower case, their words single, underscores and dashes as spaces. They are found on word
// boundaries; "*" stands for some words.
const phraseTable = `
timeout?: etimedout, esockettimedout
network?: econnrefused, econnreset, enotfound, eai again, ehostunreach, enetunreach, econnaborted, epipe
tool_validation: failed to call a function, failed to generate tool calls, tool call validation failed
tool_validation: error parsing tool call, model produced invalid sequence as part of tool use
tool_validation: validation error for list function wrap, validation errors for list function wrap
tool_validation: no valid tool call or response generated, unexpected tokens remaining in message header
tool_validation: unexpected token * while expecting start token, tool error failed to parse
structured_output: failed to generate json
cancelled?: context canceled, context cancelled, request was aborted, operation was aborted, user aborted
cancelled?: abort error, request cancelled, request canceled, cancelled by, canceled by
billing: insufficient quota, exceeded your current quota, insufficient credits, insufficient credit
billing: insufficient balance, insufficient funds, credit balance is too low, billing hard limit
billing: billing not active, check your billing details, check your plan and billing, payment required
billing: out of credits, requires more credits, purchase credits, credits exhausted, credit limit, unpaid
billing: spend limit, spending limit, not enough credits, no credits, not enough balance
billing: balance is insufficient, overdue balance, out of extra usage, have any credits
billing: used all available credits, invalid payment instrument
auth?: authentication failed, authentication failure, authentication error, failed to authenticate
auth?: unauthorized, unauthorised, unauthenticated, invalid credentials, auth error
auth: invalid api key, incorrect api key, api key not valid, api key not found, api key expired
auth: invalid x api key, missing api key, no api key, wrong api key, invalid authentication
auth: unregistered callers, no auth credentials, invalid subscription key, unable to locate credentials
auth: security token * invalid
rate_limit: too many tokens * wait
rate_limit?: quota exceeded * per minute, quota exceeded * per second, too many tokens per minute
rate_limit?: too many tokens per second
quota: free models per day, requests per day, tokens per day, daily limit, daily quota, monthly limit
quota: monthly quota, usage limits, usage limit, calls month, key limit exceeded
quota: free tier * exhausted, daily free allocation, free usage exceeded, token quota is exceeded
quota: out of call volume quota, out of bandwidth quota
quota?: quota exceeded, exceeded your quota, exceeded the quota, quota * exceeded
rate_limit?: rate limit, rate limits, rate limited, rate limiting, too many requests
context_length: context length, context window, context size, maximum context, context limit
context_length: prompt is too long, prompt too long, input is too long, input too long, input length
context_length: too many tokens, too many input tokens, reduce the length, reduce your prompt
context_length: input token count * exceeds, maximum number of tokens, token limit exceeded
context_length: exceeds * token limit, exceed * token limit, maximum allowed number of input tokens
context_length: request too large, maximum prompt length, maximum model length, prompt exceeds max length
context_length: input token count * supports up to, prompt token count * exceeds, exceed max message tokens
context_length: exceeded model token limit, length of prompt tokens, inputs must have less than
context_length: inputs tokens max new tokens must be, context shift is disabled, total tokens exceeds the model
context_length?: token limit, context overflow, is too long, are too long, was too long, too long for
context_length?: message too long, text too long, max tokens exceeded, maximum tokens exceeded
context_length?: tokens exceed, token count exceeds, maximum token count
rate_limit?: ratelimit, rate exceeded, throttling, throttled, throttling exception, slow down
rate_limit?: resource exhausted, resource has been exhausted, requests per minute, tokens per minute
rate_limit?: concurrency limit, request limit
content_filter: content filter, content filtering, content filtered, response was filtered
content_filter: content management policy, content policy, safety system, safety filter, safety filters
content_filter: responsible ai, blocked by safety, blocked due to safety, blocked by moderation
content_filter: was flagged, usage policy, usage policies, harmful content, prohibited content
content_filter: content moderation, input moderation, invalid prompt * policy, inappropriate content
content_filter: requires moderation, usage guidelines, contain sensitive information, content exists risk
content_filter: violated guardrail, guardrail checks, content for safety reasons
refusal?: model refused, refused to generate, refused to answer, refused to respond, declined to answer
model_not_found: model not found, model * not found, model * does not exist, model * not exist
model_not_found: model * not supported, model * not available, model * has been decommissioned
model_not_found: model * deprecated, no such model, unknown model, invalid model, not a valid model
model_not_found: model identifier is invalid, model unavailable, unsupported model
model_not_found: deployment * does not exist, deployment * not found, no endpoints found
model_not_found: models * is not found
auth?: authentication, api key, invalid bearer token, missing credentials, no credentials, invalid token
auth?: expired token, token expired, token has expired, not authenticated
permission: not authorized to, does not have access, do not have access, don t have access
permission: not allowed to sample, country region or territory
permission: requires terms acceptance, need to accept them, organization has been disabled
permission: organization has been restricted
permission?: forbidden, permission denied, access denied, insufficient permissions, not have permission
overloaded: overloaded, at capacity, over capacity, capacity exceeded, server busy, server is busy
overloaded: servers are busy, high demand, high load, heavy load, queue is full, maximum pending requests
overloaded: queue exceeded
timeout: timed out, timeout, time out, gateway timeout, gateway time out, deadline exceeded, took too long
timeout: takes too long, taking too long, waited too long
timeout?: timeout error, timeouts
unavailable: internal server error, bad gateway, service unavailable, temporarily unavailable
unavailable: service is unavailable, model has crashed, degraded function, model produced invalid content
unavailable: you can retry your request, model unloaded
unavailable?: server error, internal error, currently unavailable, unavailable, upstream error
unavailable?: server had an error, no healthy upstream, model not ready, api error
network?: network, network error, networkerror, fetch error, no internet, internet connection, fetch failed
network?: failed to fetch, socket hang up, socket closed, connection refused, connection reset
network?: connection error, connection closed, connection aborted, connection lost, connection failed
network?: connection terminated, connection dropped, connection was closed, connection * refused
network?: connection * reset, connection attempts failed, connect call failed, broken pipe, no such host
network?: getaddrinfo, name resolution, name or service not known, dns, unexpected eof, eof, cannot connect
network?: could not connect, can t connect, couldn t connect, unable to connect, failed to connect
network?: failed to establish, connect error, remote end closed, server disconnected, stream disconnected
network?: stream closed, stream ended unexpectedly, type error terminated, eproto, peer closed
network?: incomplete chunked read, premature close, other side closed, tls handshake, ssl error
network?: certificate, self signed, cert has expired, tls cert, host unreachable, unreachable
config?: config error, configuration error, invalid configuration
max_iterations?: max iterations, maximum iterations, maximum number of iterations, iteration limit
max_iterations?: recursion limit
provider_not_supported?: provider not supported, unsupported provider, unknown provider
provider_not_supported?: provider * is not supported, provider * not supported
provider_not_configured?: provider not configured, provider * is not configured, provider * not configured
invalid_response?: invalid json, unexpected end of json, malformed response, invalid response
invalid_response?: unexpected token, failed to parse response, could not parse response, json parse error
invalid_response?: empty response
not_found?: enoent, no such file, file not found
io?: eio, enospc, no space left, is a directory, input output error
tool_execution?: tool execution failed, tool execution error
initialization?: initialization failed, initialization error, failed to initialize, failed to initialise
invalid_request?: invalid request, bad request, invalid argument, invalid parameter, missing required
invalid_request?: validation error, unprocessable entity
permission_denied?: eacces, operation not permitted
`

// words folds a text into its words, in lower case, between single spaces, with a space before and after.
// Humps are borders ("RateLimitError" is three words), digits are not: "1429" is one word and has no 429 in
// it.
func words(text string) string {
	text = text[:min(len(text), httphint.MaxText)]
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	border := true
	for i := range len(text) {
		c := text[i]
		if !isWordByte(c) {
			if !border {
				b.WriteByte(' ')
				border = true
			}
			continue
		}
		if !border && isUpper(c) &&
			(isLower(text[i-1]) || i+1 < len(text) && isUpper(text[i-1]) && isLower(text[i+1])) {
			b.WriteByte(' ')
		}
		if isUpper(c) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
		border = false
	}
	if !border {
		b.WriteByte(' ')
	}
	return b.String()
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isWordByte(c byte) bool { return isUpper(c) || isLower(c) || c >= '0' && c <= '9' || c >= 0x80 }

func says(folded, phrase string) bool {
	first, rest, gap := strings.Cut(phrase, " * ")
	if !gap {
		return strings.Contains(folded, " "+phrase+" ")
	}
	for {
		at := strings.Index(folded, " "+first+" ")
		if at < 0 {
			return false
		}
		folded = folded[at+len(first)+1:]
		near := folded
		for i, spaces := 1, 0; i < len(folded); i++ {
			if folded[i] == ' ' {
				spaces++
			}
			if spaces == maxGap+len(strings.Fields(rest)) {
				near = folded[:i+1]
				break
			}
		}
		if strings.Contains(near, " "+rest+" ") {
			return true
		}
	}
}

func saysAny(folded string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return says(folded, p) })
}

// wordClass returns the class that a text names by its words, or "".
func wordClass(folded string) Class {
	for _, rule := range phraseRules() {
		if saysAny(folded, rule.phrases) {
			return rule.class
		}
	}
	return ""
}

// saysClass reports whether a text has a phrase of a class that is not a loose one.
func saysClass(folded string, c Class) bool {
	return slices.ContainsFunc(phraseRules(), func(rule phraseRule) bool {
		return rule.class == c && !rule.loose && saysAny(folded, rule.phrases)
	})
}

// The forms of an HTTP status in a text. The first two are of a text's folded words, the others of the text
// itself.
var statusPatterns = sync.OnceValue(func() []*regexp.Regexp {
	const status = `([45][0-9][0-9])`
	return []*regexp.Regexp{
		// "status code 429", "HTTP/1.1 503", "failed with 500"
		regexp.MustCompile(` (?:(?:status|code|error|http|response|returned|got|received)(?: [0-9])*|` +
			`(?:responded|answered|replied|failed|rejected|error) with) ` + status + ` `),
		// "529 overloaded"
		regexp.MustCompile(` (?:(400) bad|(401) (?:unauthorized|unauthorised|authorization)|(402) payment|(403) forbidden|` +
			`(404) not|(408) request|(409) conflict|(413) (?:request|payload|content)|(422) unprocessable|` +
			`(429) (?:too|rate|resource|quota|you)|(500) (?:internal|server)|(502) bad|(503) service|(504) gateway|` +
			`(529) (?:overloaded|site)) `),
		// "(429)"
		regexp.MustCompile(`\(` + status + `\)`),
		// "429: slow down", and 429 alone
		regexp.MustCompile(`^\s*` + status + `(?:$|\s+$|[:,;-]|\s(?:[{(:"'-]|status)|\W+(?i:error)\b)`),
	}
})

// statusInText finds an HTTP status that a text names: "status code 429", "HTTP 503", "529 overloaded",
// "(429)", and a number that the text begins with, before a colon or alone. "processed 429 items" names none.
func statusInText(text string) (int, bool) {
	text = text[:min(len(text), httphint.MaxText)]
	folded := words(text)
	for n, pattern := range statusPatterns() {
		in := text
		if n < 2 {
			in = folded
		}
		for _, found := range pattern.FindStringSubmatch(in) {
			if status, err := strconv.Atoi(found); err == nil {
				return status, true
			}
		}
	}
	return 0, false
}
