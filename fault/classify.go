package fault

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/httphint"
)

// Classify says what went wrong. A Go error that knows its failure, as [FailureOf] finds it, is what it says.
// Else it looks at codes first, then at the status, then at other types of the Go error. It looks at whole
// words of messages only if there is nothing better. It never fails and never panics; what fits nothing is
// Unknown. A response of status 2xx without an error gives the zero Verdict.
func Classify(r Response) (v Verdict) {
	defer func() {
		if recover() != nil {
			r.Err = errPanics
			v = classify(r)
		}
	}()
	return classify(r)
}

// errPanics is in place of a Go error whose methods panic.
var errPanics = errors.New("the error panicked when it was asked what it is")

// classify is Classify for an error whose methods do not panic.
func classify(r Response) Verdict {
	e := gather(r)
	c := e.class()
	if c == "" {
		c = e.byReply()
	}
	if c == "" {
		return Verdict{}
	}
	v := e.verdict(c)
	v.Metadata.Provider, v.Metadata.Model = r.Provider, r.Model
	return v
}

// ClassifyError is [Classify] for a Go error alone; nil gives the zero Verdict.
func ClassifyError(err error) Verdict {
	if err == nil {
		return Verdict{}
	}
	return Classify(Response{Err: err})
}

func (e *evidence) verdict(c Class) Verdict {
	plane := cmp.Or(c.Plane(), Transport)
	v := Verdict{Class: c, Plane: plane, Retryable: c.Retryable(), RetryAfter: e.wait, Asked: e.asked}
	switch {
	case e.named(c):
		v.Retryable = false
	case plane == Correction:
	case e.retry == "true":
		v.Retryable = true
	case e.retry == "false":
		v.Retryable = false
	}
	v.Message = advised(Scrub(e.sentence()), e.err)
	v.Metadata = Metadata{StatusCode: e.status, RetryAfter: e.wait}
	return v
}

// named reports whether all that is known is a document's name for c, and the document does not retry it,
// although c is retried here. For names of the correction plane ("llm-invalid-output") documents only know
// retries of the same request.
func (e *evidence) named(c Class) bool {
	if !e.bare || e.err != nil || len(e.codes) == 0 {
		return false
	}
	name := e.codes[0]
	switch {
	case c == InvalidResponse:
		return name == c.Names().AgentError
	case c.Plane() == Correction:
		return homes(foldName(name)) == c
	}
	return false
}

// AsError classifies a response and returns its typed error; nil if nothing went wrong.
func AsError(r Response) error {
	v := Classify(r)
	if !v.Failed() {
		return nil
	}
	return Typed(ProviderError{
		Class: v.Class, Provider: r.Provider, Model: r.Model, StatusCode: v.Metadata.StatusCode,
		RetryAfter: v.RetryAfter, RequestID: RequestID(r.Headers), Message: v.Message, Final: v.final(),
		Cause: r.Err,
	})
}

// requestHeaders are the headers that name a request, in order of preference.
var requestHeaders = []string{
	"request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "x-ms-request-id",
	"x-generation-id", "mistral-correlation-id", "x-ds-trace-id", "cf-ray",
}

// RequestID returns the name of a request in the provider's logs, by the headers of the response; empty if
// there is none. It is safe for concurrent use.
func RequestID(headers map[string][]string) string {
	folded := httphint.Fold(headers, func(name string) bool { return slices.Contains(requestHeaders, name) })
	for _, name := range requestHeaders {
		if values := folded[name]; len(values) > 0 {
			return Scrub(values[0])
		}
	}
	return ""
}

// sentence returns the error's message for operators.
func (e *evidence) sentence() string {
	text := cmp.Or(e.message, e.text)
	if text == "" && e.err != nil {
		text = e.err.Error()
	}
	return text
}

// addFromError takes the code and the status that SDK errors offer by their methods.
func (e *evidence) addFromError() {
	if e.err = chain.Bounded(e.err); e.status == 0 {
		e.status = statusOf(e.err)
	}
	var code coded
	if errors.As(e.err, &code) {
		e.addCode(code.ErrorCode())
	}
}

// recall takes what a typed error knows of the response behind it, unless this response says so itself.
func (e *evidence) recall(own Failure) {
	if !e.asked && own.RetryAfter > 0 {
		e.wait, e.asked = own.RetryAfter, true
	}
	if own.Final && e.retry == "" {
		e.retry = "false"
	}
}

// class classifies in order of reliability. It returns "" for a reply of status 2xx, which only its content
// can classify.
func (e *evidence) class() Class {
	e.addFromError()
	if own := ownFailure(e.err); own.Class != "" {
		e.recall(own)
		return own.Class
	}
	if c := contextClass(e.err); c != "" && e.status < 400 && !e.isError {
		return c
	}
	strong, weak := e.byCode()
	if strong != "" {
		return e.refineKnown(strong)
	}
	if weak == "" && e.status >= 200 && e.status < 300 && e.err == nil && !e.isError {
		return ""
	}
	if e.status == 0 {
		e.status, _ = statusInText(e.sentence())
	}
	byStatus := statusClass(e.provider, e.status)
	switch {
	case weak == Unavailable && byStatus == "":
		if c := e.byError(); c != Unknown {
			return c
		}
		return weak
	case weak != "" && weak != Unavailable &&
		(byStatus == "" || e.status == 400 || e.status == 422 && byStatus == InvalidRequest):
		return e.refineVague(weak)
	case byStatus != "":
		return e.refineVague(byStatus)
	}
	return e.byError()
}

// byCode looks the codes up. Money and quotas go before all else: an "insufficient_quota" beside
// "rate_limit_error" is no rate limit.
func (e *evidence) byCode() (strong, weak Class) {
	for _, code := range e.codes {
		c, w := e.codeClass(code)
		if c == Billing || c == Quota && strong == "" {
			return c, ""
		}
		if strong == "" {
			strong = c
		}
		if weak == "" {
			weak = w
		}
	}
	return strong, weak
}

func (e *evidence) codeClass(code string) (strong, weak Class) {
	key := squash(code)
	own, named := ParseName(code)
	weak = cmp.Or(weakCodes(e.provider+"/"+key), weakCodes(key))
	switch strong = cmp.Or(bothMeanings(key), strongCodes(e.provider+"/"+key), strongCodes(key)); {
	case named && e.bare:
		return own, ""
	case strong != "":
		return strong, ""
	case weak != "":
		return "", weak
	case own != Unknown:
		return own, ""
	}
	return "", ""
}

// byError classifies by the types of the Go error, and then by words.
func (e *evidence) byError() Class {
	if c := errorClass(e.err); c != "" {
		return c
	}
	text := e.message + "\n" + e.text
	if e.err != nil && strings.TrimSpace(text) == "" {
		text = e.err.Error()
	}
	folded := said(text)
	c := wordClass(folded)
	if named := e.byCodeWords(); named != "" && (named != Unavailable || c == "") {
		c = named
	}
	switch {
	case c == Quota && e.asked && says(folded, "rate limit"):
		return RateLimit
	case c == Permission && e.bare && saysAny(folded, []string{"permission denied", "access denied"}) &&
		!says(folded, "access denied exception"):
		return PermissionDenied
	case c != "":
		return e.refineKnown(c)
	case networked(e.err):
		return Network
	}
	return Unknown
}

// byCodeWords classifies codes that are in no table by their words: "AcmeRateLimitError".
func (e *evidence) byCodeWords() Class {
	for _, code := range e.codes {
		if len(code) > maxCode || weakCodes(squash(code)) != "" {
			continue
		}
		if c := wordClass(words(code)); c != "" {
			return c
		}
	}
	return ""
}

// finishes are the values with which a reply says that it ended badly.
var finishes = meanings(finishTable)

const finishTable = `
content_filter: content_filter SAFETY PROHIBITED_CONTENT BLOCKLIST SPII RECITATION IMAGE_SAFETY
content_filter: guardrail_intervened content_filtered
truncated: length max_tokens max_output_tokens MAX_TOKENS
refusal: refusal
tool_validation: MALFORMED_FUNCTION_CALL TOO_MANY_TOOL_CALLS
unknown_tool: UNEXPECTED_TOOL_CALL
context_length: model_context_window_exceeded
`

// byReply classifies a body of status 2xx without an error: the reply may still have ended badly.
func (e *evidence) byReply() Class {
	reasons := []httphint.Node{
		e.body.At("incomplete_details", "reason"), e.body.At("stop_reason"), e.body.At("stopReason"),
		e.body.At("promptFeedback", "blockReason"),
	}
	for _, choice := range append(e.body.At("choices").Items(), e.body.At("candidates").Items()...) {
		if choice.At("message", "refusal").Str() != "" {
			return Refusal
		}
		reasons = append(reasons, choice.At("finish_reason"), choice.At("finishReason"))
	}
	for _, reason := range reasons {
		if c := finishes(reason.Str()); c != "" {
			return c
		}
	}
	if e.message != "" && !e.body.Is() {
		return e.byError()
	}
	return ""
}
