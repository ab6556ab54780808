package fault

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// phraseRule is a class and the phrases that mean it. A phrase is found on word boundaries; "*" stands for up to
// maxGap words. Strong phrases also tell what a bare status leaves open; loose ones count only where nothing else is
// known at all.
type phraseRule struct {
	class         Class
	strong, loose []string
}

// maxGap is how many words a "*" stands for at most.
const maxGap = 8

// phraseRules in order of precedence. Phrases are in lower case, their words single, underscores and dashes as spaces.
var phraseRules = [...]phraseRule{
	{ToolValidation, []string{"failed to call a function"}, nil},
	{StructuredOutput, []string{"failed to generate json"}, nil},
	{Cancelled, nil, []string{"context canceled", "context cancelled", "request was aborted", "operation was aborted", "user aborted", "abort error", "request cancelled", "request canceled", "cancelled by", "canceled by"}},
	{Billing, []string{"insufficient quota", "exceeded your current quota", "insufficient credits", "insufficient credit", "insufficient balance", "insufficient funds", "credit balance is too low", "billing hard limit", "billing not active", "check your billing details", "check your plan and billing", "payment required", "out of credits", "requires more credits", "purchase credits", "credits exhausted", "credit limit", "unpaid", "spend limit", "spending limit", "not enough credits", "no credits"}, nil},
	{RateLimit, []string{"too many tokens * wait"}, []string{"quota exceeded * per minute", "quota exceeded * per second", "too many tokens per minute", "too many tokens per second"}},
	{Quota, []string{"free models per day", "requests per day", "tokens per day", "daily limit", "daily quota", "monthly limit", "monthly quota", "usage limits", "usage limit", "calls month"}, []string{"quota exceeded", "exceeded your quota", "exceeded the quota", "quota * exceeded"}},
	{RateLimit, nil, []string{"rate limit", "rate limits", "rate limited", "rate limiting", "too many requests"}},
	{ContextLength, []string{"context length", "context window", "context size", "maximum context", "context limit", "prompt is too long", "prompt too long", "input is too long", "input too long", "input length", "too many tokens", "too many input tokens", "reduce the length", "reduce your prompt", "input token count * exceeds", "maximum number of tokens", "token limit exceeded", "exceeds * token limit", "exceed * token limit", "maximum allowed number of input tokens", "request too large", "maximum prompt length"}, []string{"token limit", "context overflow", "is too long", "are too long", "was too long", "too long for", "message too long", "text too long", "max tokens exceeded", "maximum tokens exceeded", "tokens exceed", "token count exceeds", "maximum token count"}},
	{RateLimit, nil, []string{"ratelimit", "rate exceeded", "throttling", "throttled", "throttling exception", "slow down", "resource exhausted", "resource has been exhausted", "requests per minute", "tokens per minute", "concurrency limit", "request limit"}},
	{ContentFilter, []string{"content filter", "content filtering", "content filtered", "response was filtered", "content management policy", "content policy", "safety system", "safety filter", "safety filters", "responsible ai", "blocked by safety", "blocked due to safety", "blocked by moderation", "was flagged", "usage policy", "usage policies", "harmful content", "prohibited content", "content moderation", "input moderation", "invalid prompt * policy", "inappropriate content", "requires moderation"}, nil},
	{Refusal, nil, []string{"model refused", "refused to generate", "refused to answer", "refused to respond", "declined to answer"}},
	{ModelNotFound, []string{"model not found", "model * not found", "model * does not exist", "model * not exist", "model * not supported", "model * not available", "model * has been decommissioned", "model * deprecated", "no such model", "unknown model", "invalid model", "not a valid model", "model identifier is invalid", "model unavailable", "unsupported model", "deployment * does not exist", "deployment * not found", "no endpoints found", "models * is not found"}, nil},
	{Auth, []string{"invalid api key", "incorrect api key", "api key not valid", "api key not found", "api key expired", "invalid x api key", "missing api key", "no api key", "wrong api key", "invalid authentication", "unregistered callers", "no auth credentials", "invalid subscription key", "unable to locate credentials", "security token * invalid"}, []string{"unauthorized", "unauthorised", "unauthenticated", "authentication", "api key", "auth error", "invalid credentials", "invalid bearer token", "missing credentials", "no credentials", "invalid token", "expired token", "token expired", "token has expired"}},
	{Permission, []string{"not authorized to", "does not have access", "do not have access", "don t have access", "not allowed to sample", "country region or territory"}, []string{"forbidden", "permission denied", "access denied", "insufficient permissions", "not have permission"}},
	{Overloaded, []string{"overloaded", "at capacity", "over capacity", "capacity exceeded", "server busy", "server is busy", "servers are busy", "high demand", "high load", "heavy load", "queue is full", "maximum pending requests", "queue exceeded"}, nil},
	{Timeout, []string{"timed out", "timeout", "time out", "gateway timeout", "gateway time out", "deadline exceeded", "took too long", "takes too long", "taking too long", "waited too long"}, []string{"etimedout", "esockettimedout", "timeout error", "timeouts"}},
	{Unavailable, []string{"internal server error", "bad gateway", "service unavailable", "temporarily unavailable", "service is unavailable"}, []string{"server error", "internal error", "currently unavailable", "unavailable", "upstream error", "server had an error", "no healthy upstream", "model not ready", "api error"}},
	{Network, nil, []string{"network", "network error", "networkerror", "fetch error", "no internet", "internet connection", "fetch failed", "failed to fetch", "socket hang up", "socket closed", "econnrefused", "econnreset", "enotfound", "epipe", "eai again", "ehostunreach", "enetunreach", "econnaborted", "connection refused", "connection reset", "connection error", "connection closed", "connection aborted", "connection lost", "connection failed", "connection terminated", "connection dropped", "connection was closed", "connection * refused", "connection * reset", "connection attempts failed", "connect call failed", "broken pipe", "no such host", "getaddrinfo", "name resolution", "name or service not known", "dns", "unexpected eof", "eof", "cannot connect", "could not connect", "can t connect", "couldn t connect", "unable to connect", "failed to connect", "failed to establish", "connect error", "remote end closed", "server disconnected", "stream disconnected", "stream closed", "stream ended unexpectedly", "type error terminated", "eproto", "peer closed", "incomplete chunked read", "premature close", "other side closed", "tls handshake", "ssl error", "certificate", "self signed", "cert has expired", "tls cert", "host unreachable", "unreachable"}},
	{Config, nil, []string{"config error", "configuration error", "invalid configuration"}},
	{MaxIterations, nil, []string{"max iterations", "maximum iterations", "maximum number of iterations", "iteration limit", "recursion limit"}},
	{ProviderNotSupported, nil, []string{"provider not supported", "unsupported provider", "unknown provider", "provider * is not supported", "provider * not supported"}},
	{ProviderNotConfigured, nil, []string{"provider not configured", "provider * is not configured", "provider * not configured"}},
	{InvalidResponse, nil, []string{"invalid json", "unexpected end of json", "malformed response", "invalid response", "unexpected token", "failed to parse response", "could not parse response", "json parse error", "empty response"}},
	{NotFound, nil, []string{"enoent", "no such file", "file not found"}},
	{IO, nil, []string{"eio", "enospc", "no space left", "is a directory", "input output error"}},
	{ToolExecution, nil, []string{"tool execution failed", "tool execution error"}},
	{Initialization, nil, []string{"initialization failed", "initialization error", "failed to initialize", "failed to initialise"}},
	{InvalidRequest, nil, []string{"invalid request", "bad request", "invalid argument", "invalid parameter", "missing required", "validation error", "unprocessable entity"}},
	{PermissionDenied, nil, []string{"eacces", "operation not permitted"}},
}

// words folds a text into its words, in lower case, between single spaces, with a space before and after. Humps are
// borders ("RateLimitError" is three words), digits are not: "1429" is one word and has no 429 in it.
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
		if !border && isUpper(c) && (isLower(text[i-1]) || i+1 < len(text) && isUpper(text[i-1]) && isLower(text[i+1])) {
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

// says reports whether a folded text has a phrase.
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
	for _, p := range phrases {
		if says(folded, p) {
			return true
		}
	}
	return false
}

// wordClass is what a text says by its words alone.
func wordClass(folded string) Class {
	for _, rule := range phraseRules {
		if saysAny(folded, rule.strong) || saysAny(folded, rule.loose) {
			return rule.class
		}
	}
	return ""
}

// saysClass reports whether a text has a strong phrase of a class.
func saysClass(folded string, c Class) bool {
	for _, rule := range phraseRules {
		if rule.class == c && saysAny(folded, rule.strong) {
			return true
		}
	}
	return false
}

// statusCues are the words before a number that make it a status, answerCues those that do so with "with" between them;
// statusReasons those after it.
var (
	answerCues    = []string{"responded", "answered", "replied", "failed", "rejected", "error"}
	statusCues    = []string{"status", "code", "error", "http", "response", "returned", "got", "received"}
	statusReasons = [...]struct {
		status int
		words  string
	}{
		{400, "bad"}, {401, "unauthorized unauthorised authorization"}, {402, "payment"}, {403, "forbidden"}, {404, "not"},
		{408, "request"}, {409, "conflict"}, {413, "request payload content"}, {422, "unprocessable"},
		{429, "too rate resource quota you"}, {500, "internal server"}, {502, "bad"}, {503, "service"}, {504, "gateway"},
		{529, "overloaded site"},
	}
)

// statusInText finds an HTTP status that a text names: "status code 429", "HTTP 503", "529 overloaded", "(429)", and a
// number that the text begins with, before a colon or alone. "processed 429 items" names none.
func statusInText(text string) (int, bool) {
	text = text[:min(len(text), httphint.MaxText)]
	list := strings.Fields(words(text))
	for i, word := range list {
		n, err := strconv.Atoi(word)
		if err != nil || len(word) != 3 || n < 400 || n > 599 {
			continue
		}
		if cued(list[:i]) || i+1 < len(list) && isReason(n, list[i+1]) ||
			strings.Contains(text, "("+word+")") || i == 0 && leads(text, word) {
			return n, true
		}
	}
	return 0, false
}

// isReason reports whether a word is what a status is written with.
func isReason(status int, word string) bool {
	for _, r := range statusReasons {
		if r.status == status {
			return hasWord(strings.Fields(r.words), word)
		}
	}
	return false
}

// cued reports whether the words before a number make it a status.
func cued(before []string) bool {
	last := len(before) - 1
	for last >= 1 && len(before[last]) == 1 && before[last][0] >= '0' && before[last][0] <= '9' { // the version in "HTTP/1.1 503"
		last--
	}
	if last >= 1 && before[last] == "with" {
		return hasWord(answerCues, before[last-1])
	}
	return last >= 0 && hasWord(statusCues, before[last])
}

// leads reports whether a text begins with a number that stands by itself.
func leads(text, number string) bool {
	rest := strings.TrimPrefix(strings.TrimSpace(text), number)
	rest, spaced := strings.CutPrefix(rest, " ")
	if rest == "" {
		return true
	}
	if spaced {
		return strings.IndexByte("{-(:\"'", rest[0]) >= 0 || strings.HasPrefix(rest, "status") || strings.HasPrefix(words(rest), " error ")
	}
	return strings.IndexByte(":,-;", rest[0]) >= 0
}

func hasWord(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}
