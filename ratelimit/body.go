package ratelimit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// foldAll folds the headers of a response, and those that its body holds where the response lacks them.
func foldAll(headers map[string][]string, body httphint.Node) httphint.Headers {
	all := httphint.Fold(httphint.PassedOn(body), relevant)
	maps.Copy(all, httphint.Fold(headers, relevant))
	return all
}

// quota reads google.rpc.QuotaFailure. Each violation is an exhausted window, and its id names resource and
// period: "GenerateContentInputTokensPerModelPerMinute-FreeTier".
func (r *reader) quota(body httphint.Node) {
	violations := httphint.Detail(body, "QuotaFailure").At("violations").Items()
	for _, v := range violations[:min(len(violations), maxWindows)] {
		id := v.At("quotaId").Str()
		_, resource := resourceOf([]string{strings.ToLower(id)}, bodyQuota)
		if id == "" || !slices.Contains(resourceOrder, resource) {
			r.ignore("body", id, "not a quota of requests or tokens")
			continue
		}
		k := key{family: bodyQuota, base: resource, resource: resource}
		for _, of := range strings.Split(id, "Per")[1:] {
			word, _, _ := strings.Cut(strings.ToLower(of), "-")
			k.period = cmp.Or(k.period, periodOfWord(word))
		}
		r.addFact(k, fieldLimit, "body", v.At("quotaValue").Text())
		r.addFact(k, fieldRemaining, "body", "0")
	}
}
