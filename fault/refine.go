package fault

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// refinements are the more exact classes that a message may name if status and code name only the key.
var refinements = map[Class][]Class{
	InvalidRequest: {ToolValidation, StructuredOutput, Billing, ContextLength, ContentFilter, Auth,
		ModelNotFound, Permission, Quota, Unavailable},
	RateLimit:   {Billing, Quota},
	Permission:  {Billing, Quota, ContentFilter},
	Unavailable: {ToolValidation, Billing, ContextLength, Overloaded},
}

// refineKnown returns the class that the provider means by a code or words that say what went wrong.
func (e *evidence) refineKnown(c Class) Class {
	folded := said(e.message + "\n" + e.text)
	return e.refine(c, folded, e.finer(folded, c, mistaken[c]))
}

// refineVague returns the class that the provider means by a status or a weak code: the words count, too.
func (e *evidence) refineVague(c Class) Class {
	folded := said(e.message + "\n" + e.text)
	finer := e.finer(folded, c, refinements[c])
	if finer == "" && c == RateLimit && e.saysQuota(folded) {
		finer = Quota
	}
	return e.refine(c, folded, finer)
}

// refine returns finer, the class that words name more exactly than c, or else the class that c and the
// provider's own words mean.
func (e *evidence) refine(c Class, folded string, finer Class) Class {
	if c == Permission && e.isModerated() {
		return ContentFilter
	}
	if finer != "" {
		return finer
	}
	switch c {
	case RateLimit:
		return e.refineLimit(folded)
	case Quota:
		if saysAny(folded, soon[:]) || says(folded, alibabaLimit) {
			return RateLimit
		}
	case Billing:
		if e.openRouterWait() || says(folded, alibabaLimit) {
			return RateLimit
		}
	case ModelNotFound:
		if e.notOfModel(folded) {
			return InvalidRequest
		}
	case ContextLength:
		if isField(folded) {
			return InvalidRequest
		}
	}
	return c
}

// preface is what Bedrock puts before the error of a model's own API. It does not say which model it is.
const preface = " the model returned the following errors "

// said returns the words of what a provider says, without the preface.
func said(text string) string { return strings.Replace(words(text), preface, " ", 1) }

// longestField is the most characters that a field of a request takes which is none for a conversation: ids,
// names and descriptions.
const longestField = 64 << 10

// isField reports whether a string was too long for such a field.
func isField(folded string) bool {
	_, after, said := strings.Cut(folded, " a string with maximum length ")
	number, _, _ := strings.Cut(after, " ")
	most, err := strconv.Atoi(number)
	return said && err == nil && most <= longestField
}

// notOfModel reports whether something else than a model was not found, such as an address or a file: no code
// and no word is about a model. A bare status or code has its usual meaning.
func (e *evidence) notOfModel(folded string) bool {
	for _, code := range e.codes {
		key := squash(code)
		strong, _ := e.codeClass(code)
		if strong == ModelNotFound && key != "notfound" && key != "notfounderror" {
			return false
		}
	}
	if strings.TrimSpace(folded) == "" {
		return e.served
	}
	return !saysAny(folded, []string{"model", "models", "deployment", "endpoints", "not found for account"})
}

// mistaken are those that count beside a code, too: servers give these codes to whatever went wrong.
var mistaken = map[Class][]Class{
	RateLimit:   {Billing, Quota},
	Permission:  {Billing, Quota},
	Unavailable: {ToolValidation, Billing, ContextLength},
}

// finer returns the class among some that words name more exactly than c, or "".
func (e *evidence) finer(folded string, c Class, among []Class) Class {
	for _, finer := range among {
		skip := c == RateLimit && (finer == Billing && e.google(folded) || finer == Quota && e.asked ||
			says(folded, alibabaLimit))
		skip = skip || c == Unavailable && wordClass(folded) != finer // "too many tokens, please wait"
		// the page of a broken server, or what is left of a large body
		skip = skip || c == Unavailable && finer == Billing && e.message == ""
		if !skip && saysClass(folded, finer) {
			return finer
		}
	}
	return ""
}

// saysQuota reports whether words call a limit a quota that does not refill soon.
func (e *evidence) saysQuota(folded string) bool {
	return !e.asked && !e.google(folded) && wordClass(folded) == Quota && !says(folded, "rate limit") &&
		!saysAny(folded, soon[:]) && !says(folded, alibabaLimit)
}

// soon are the words for limits that refill within a run.
var soon = [...]string{"per minute", "per second", "per hour"}

// alibabaLimit is the end of the link in Alibaba's errors for its limits of tokens per minute and second.
// Besides, they speak of quotas and billing; an account without money has another link.
const alibabaLimit = "error code token limit"

// openRouterWait is OpenRouter's 402 for requests in flight: with a Retry-After it passes.
func (e *evidence) openRouterWait() bool {
	return e.provider == "openrouter" && e.status == 402 && e.asked
}

// refineLimit distinguishes limits that refill soon, limits that do not, and requests that never fit.
func (e *evidence) refineLimit(folded string) Class {
	switch {
	case e.status == 413, says(folded, "request too large"):
		return ContextLength
	case saysAny(folded, []string{"prepayment credits", "spending cap", "extra usage"}):
		return Billing
	case e.offPlan, e.google(folded) && (e.isDaily() || saysAny(folded, []string{"limit 0", "per day"})),
		says(folded, "free models per day"):
		return Quota
	case !e.asked && saysAny(folded, []string{"tokens per day", "requests per day", "daily limit",
		"daily quota"}):
		return Quota
	}
	return RateLimit
}

// google reports whether the error is Google's. Its messages mention billing for every limit.
func (e *evidence) google(folded string) bool {
	return e.provider == "gemini" || len(httphint.Details(e.body)) > 0 ||
		strings.Contains(folded, " generativelanguage googleapis ") ||
		strings.Contains(folded, " ai google dev ")
}
