package ratelimit

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// withBodyHeaders adds headers from the body that the response does not have.
func withBodyHeaders(headers map[string][]string, body httphint.Node) map[string][]string {
	passed := httphint.PassedOn(body)
	if len(passed) == 0 {
		return headers
	}
	union := make(map[string][]string, len(headers)+len(passed))
	have := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		union[name] = headers[name]
		have[strings.ToLower(name)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if !have[strings.ToLower(name)] {
			union[name] = passed[name]
		}
	}
	return union
}

// quotaPeriods are the periods in Google's quota ids.
var quotaPeriods = [...]struct {
	word   string
	period period
}{{"PerSecond", 1}, {"PerMinute", 60}, {"PerHour", 3600}, {"PerDay", 86400}}

// quotaResources are the resources in Google's quota ids, the more precise first.
var quotaResources = [...]struct{ word, resource string }{
	{"InputToken", "input_tokens"}, {"OutputToken", "output_tokens"}, {"Token", "tokens"},
	{"Request", "requests"},
}

// quota reads google.rpc.QuotaFailure. Each violation is an exhausted window.
func (r *reader) quota(body httphint.Node) {
	violations := httphint.Detail(body, "QuotaFailure").At("violations").Items()
	for _, v := range violations[:min(len(violations), maxWindows)] {
		id := v.At("quotaId").Str()
		k := key{family: bodyQuota}
		for _, q := range quotaResources {
			if strings.Contains(id, q.word) {
				k.base, k.resource = q.resource, q.resource
				break
			}
		}
		for _, q := range quotaPeriods {
			if strings.Contains(id, q.word) {
				k.period = q.period
				break
			}
		}
		if k.resource == "" {
			r.ignore("body", id, "not a quota of requests or tokens")
			continue
		}
		r.tell(k, fieldLimit, "body", v.At("quotaValue").Text())
		r.tell(k, fieldRemaining, "body", "0")
	}
}
