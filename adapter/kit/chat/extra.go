package chat

import (
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/adapter/kit"
)

// The members of a reply of the Chat API that are passed on as they came: of the whole, and of its message.
var (
	wholeExtras = []string{"usage", "citations", "search_results", "service_tier", "system_fingerprint",
		"moderation", "prompt_filter_results"}
	messageExtras = []string{"images"}
)

// chatExtras collects what a reply has beside text and calls. Annotations, log probabilities and sound come
// in pieces.
type chatExtras struct {
	kit.Extras
	annotations []json.RawMessage
	logprobs    []json.RawMessage
	audio       pieces
}

// take takes the members of a reply, or of one event of a stream. name is that of the message in it.
func (x *chatExtras) take(doc []byte, name string) {
	x.Keep(doc, wholeExtras...)
	whole, _ := kit.ReadObject(doc)
	choices := whole.Items("choices")
	if len(choices) == 0 {
		return
	}
	choice, _ := kit.ReadObject(choices[0])
	x.Keep(choices[0], "usage")
	x.Keep(choice.Get(name), messageExtras...)
	message := choice.Object(name)
	x.annotations = append(x.annotations, message.Items("annotations")...)
	for _, m := range message.Object("audio") {
		if x.audio == nil {
			x.audio = pieces{}
		}
		x.audio.add(m)
	}
	logprobs := choice.Object("logprobs")
	if slices.ContainsFunc(logprobs, func(m kit.Member) bool { return kit.Items(m.Value) != nil }) {
		x.logprobs = append(x.logprobs, choice.Get("logprobs"))
	}
}

// all returns what was collected.
func (x *chatExtras) all() kit.Extras {
	if len(x.annotations) > 0 {
		x.Set("annotations", kit.List(x.annotations...))
	}
	if len(x.logprobs) > 0 {
		x.Set("logprobs", kit.JoinLists(x.logprobs))
	}
	if len(x.audio) > 0 {
		x.Set("audio", with(nil, x.audio.join()).JSON())
	}
	return x.Extras
}
