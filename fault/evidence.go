package fault

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// evidence has everything in a Response that matters for its class.
type evidence struct {
	provider string
	status   int
	// codes, the most telling first.
	codes []string
	// message is the error's sentence, never text of the model.
	message string
	// text is read for words if there is no message: a body that is not JSON, or a Go error.
	text string
	body httphint.Node
	// isError reports that the body describes an error, whatever the status.
	isError bool
	// bare reports that there is only a code of our own side: no provider, no status, and no body but an
	// error in the form of the documents.
	bare bool
	// served reports that there are headers: a whole response, not only what a document says of a status.
	served bool
	retry  string // x-should-retry
	// wait is the wait that the server asked for, if asked is set.
	wait  time.Duration
	asked bool
	// offPlan reports that the model is not in the account's plan.
	offPlan bool
	err     error
}

// isRelevant reports whether a header matters for the class.
func isRelevant(name string) bool {
	return httphint.IsWait(name) || name == "x-should-retry" || name == "x-amzn-errortype" ||
		name == mistralLimit
}

// mistralLimit is 0 if the model is not in the plan.
const mistralLimit = "x-ratelimit-limit-req-minute"

func gather(r Response) evidence {
	e := evidence{provider: canonicalProvider(r.Provider), status: r.Status, message: r.Message, err: r.Err}
	e.bare = r.Provider == "" && r.Status == 0 && len(r.Body) == 0
	headers := httphint.Fold(r.Headers, isRelevant)
	e.served = len(r.Headers) > 0
	e.readErrorCodes(r)
	e.codes = append(e.codes, headers["x-amzn-errortype"]...)
	e.readBody(r.Body)
	if code := documentCode(e.body); code != "" && r.Provider == "" && r.Status == 0 {
		e.bare, e.codes = true, []string{code}
	}
	if !e.body.Is() {
		e.readEmbedded(e.message)
	}
	e.readNames()
	e.retry = strings.ToLower(strings.Join(headers["x-should-retry"], ","))
	e.offPlan = slices.Equal(headers[mistralLimit], []string{"0"})
	e.wait, e.asked, _ = httphint.Wait(headers, r.Now)
	if !e.asked {
		e.wait, e.asked = e.bodyWait(r.Now)
	}
	return e
}

// documentCode returns the code of a result envelope or an agent error: {"status": "error", "error": CODE},
// {"success": false, "error": CODE} or {"error": CODE} alone, with a name of the documents. It is "" for
// anything else.
func documentCode(n httphint.Node) string {
	if n.At("status").Str() != "error" && !n.At("success").IsFalse() && len(n.Names()) != 1 {
		return ""
	}
	code := n.At("error").Str()
	if _, named := ParseName(code); !named {
		return ""
	}
	return code
}

// isDaily reports whether one of the violated quotas in the body, in Google's form, is per day or 0.
func (e *evidence) isDaily() bool {
	violated := httphint.Detail(e.body, "QuotaFailure").At("violations").Items()
	return slices.ContainsFunc(violated, func(v httphint.Node) bool {
		return strings.Contains(v.At("quotaId").Str(), "PerDay") || v.At("quotaValue").Text() == "0"
	})
}

// isModerated reports whether the body mentions moderation.
func (e *evidence) isModerated() bool {
	meta := httphint.ErrorObject(e.body).At("metadata")
	return meta.At("flagged_input").Is() || meta.At("reasons").Is()
}

// readErrorCodes takes the codes that came apart from the body. A number is a status, a sentence is a
// message.
func (e *evidence) readErrorCodes(r Response) {
	for _, code := range [...]string{r.Code, r.Type} {
		if strings.Contains(strings.TrimSpace(code), " ") {
			e.message = strings.TrimSpace(e.message + " " + code)
			continue
		}
		e.addCode(code)
	}
}

func (e *evidence) addCode(code string) {
	if n, ok := numericCode(code); ok {
		if e.status < 400 && n >= 400 {
			e.status = n
		}
		if e.provider == "mistral" {
			return
		}
	}
	if code != "" {
		e.codes = append(e.codes, code)
	}
}

// readBody reads JSON, server-sent events or JSON lines. Anything else is kept as text.
func (e *evidence) readBody(body []byte) {
	n, isJSON := httphint.ParseJSON(body)
	if items := n.Items(); len(items) > 0 {
		n = items[0]
	}
	if isJSON && tellsError(n) {
		e.readObject(n)
		return
	}
	for _, event := range httphint.Events(body) {
		if tellsError(event) {
			e.readObject(event)
			return
		}
	}
	if isJSON && n.IsObject() {
		e.readObject(n)
		return
	}
	e.text = string(body[:min(len(body), httphint.MaxText)])
}

// tellsError reports whether a body has the form of an error.
func tellsError(n httphint.Node) bool {
	switch n.At("type").Str() {
	case "error", "response.failed", "response.error":
		return true
	}
	if e := n.At("error"); e.Is() && (e.IsObject() || e.Str() != "" || len(e.Items()) > 0) {
		return true
	}
	if n.At("object").Str() == "error" || exceptionName(n) != "" || n.At("response", "error").IsObject() {
		return true
	}
	return choiceError(n).Is()
}

// choiceError returns the error within a choice (OpenRouter, when the provider fails in the middle).
func choiceError(n httphint.Node) httphint.Node {
	for _, choice := range n.At("choices").Items() {
		if c := choice.At("error"); c.IsObject() {
			return c
		}
	}
	return httphint.Node{}
}

// exceptionName returns the name of a Bedrock stream's exception: its message's only member.
func exceptionName(n httphint.Node) string {
	for _, name := range n.Names() {
		if strings.HasSuffix(name, "Exception") && n.At(name).IsObject() {
			return name
		}
	}
	return ""
}

// codePaths are the places of codes, the most telling first, within the error or else the body.
var codePaths = [...][]string{
	{"details", "error_code"}, {"metadata", "error_type"}, {"metadata", "provider_code"},
	{"metadata", "limit_source"},
	{"innererror", "code"}, {"code"}, {"type"}, {"status"}, {"error_type"}, {"__type"}, {"errorType"},
	{"error_code"}, {"response", "status"}, {"response", "statusCode"},
}

func (e *evidence) addCodes(in httphint.Node) {
	for _, path := range codePaths {
		e.addCode(in.At(path...).Text())
	}
}

func (e *evidence) readObject(n httphint.Node) {
	e.body, e.isError = n, tellsError(n)
	if e.status >= 200 && e.status < 300 && !e.isError {
		return
	}
	inner := httphint.ErrorObject(n)
	if c := choiceError(n); c.Is() {
		inner = c
	}
	for _, d := range httphint.Details(n) {
		e.addCode(d.At("reason").Str())
	}
	e.addCodes(inner)
	e.addCode(exceptionName(n))
	e.addCode(inner.Str())
	for _, name := range [...]string{"code", "type", "error_type", "__type", "statusCode", "error_code",
		"status_code"} {
		e.addCode(n.At(name).Text())
	}
	e.readUpstream(inner)
	e.message = cmp.Or(e.message, httphint.MessageOf(n),
		inner.At("message").Str()+n.At(exceptionName(n), "message").Str())
}

// readNames takes the names of the errors that a LiteLLM proxy puts before a message, the last of which is the
// provider's: "litellm.ServiceUnavailableError: litellm.RateLimitError: …". Its status may be another. It
// calls whatever it does not know a connection error.
func (e *evidence) readNames() {
	for rest := e.message; strings.HasPrefix(rest, "litellm."); {
		name, after, _ := strings.Cut(rest, ": ")
		if rest = after; name != "litellm.APIConnectionError" {
			e.codes = append([]string{name}, e.codes...)
		}
	}
}

// readUpstream reads the body of the provider behind a gateway (OpenRouter: error.metadata.raw).
func (e *evidence) readUpstream(inner httphint.Node) {
	raw := inner.At("metadata", "raw").Str()
	if raw == "" {
		return
	}
	n, ok := httphint.ParseJSON([]byte(raw))
	if !ok {
		e.message = strings.TrimSpace(inner.At("message").Str() + " " + raw[:min(len(raw), httphint.MaxText)])
		return
	}
	e.addCodes(httphint.ErrorObject(n))
	e.message = strings.TrimSpace(inner.At("message").Str() + " " + httphint.MessageOf(n))
}

// readEmbedded reads a JSON object within an SDK's message: `429 {"type":"error",…}`.
func (e *evidence) readEmbedded(message string) {
	at := strings.IndexByte(message, '{')
	if at < 0 {
		return
	}
	if n, ok := httphint.ParseJSON([]byte(message[at:])); ok && n.IsObject() &&
		(tellsError(n) || n.At("code").Is() && n.At("message").Is()) {
		before := message[:at]
		if status, found := statusInText(before); found && e.status == 0 {
			e.status = status
		}
		e.message = ""
		e.readObject(n)
		e.message = cmp.Or(e.message, before)
	}
}

func (e *evidence) bodyWait(now time.Time) (time.Duration, bool) {
	passed := httphint.Fold(httphint.PassedOn(e.body), httphint.IsWait)
	if d, ok, _ := httphint.Wait(passed, now); ok {
		return d, true
	}
	if d, ok := httphint.BodyWait(e.body); ok {
		return d, true
	}
	return httphint.TextWait(e.message + "\n" + e.text)
}
