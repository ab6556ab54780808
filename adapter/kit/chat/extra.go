package chat

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
)

// The members of a reply of the Chat API that are passed on as they came: of the whole, and of its message.
var (
	wholeExtras   = []string{"usage", "citations", "search_results", "service_tier", "system_fingerprint"}
	messageExtras = []string{"images", "audio"}
)

// chatExtras collects what a reply has beside text and calls. Annotations and log probabilities come in
// pieces.
type chatExtras struct {
	kit.Extras
	annotations []json.RawMessage
	logprobs    map[string][]json.RawMessage
}

// take takes the members of a reply, or of one event of a stream. name is that of the message in it.
func (x *chatExtras) take(doc []byte, name string) {
	x.Keep(doc, wholeExtras...)
	whole, _ := kit.ReadObject(doc)
	choices := kit.Items(whole.Get("choices"))
	if len(choices) == 0 {
		return
	}
	choice, _ := kit.ReadObject(choices[0])
	x.Keep(choices[0], "usage")
	x.Keep(choice.Get(name), messageExtras...)
	message, _ := kit.ReadObject(choice.Get(name))
	x.annotations = append(x.annotations, kit.Items(message.Get("annotations"))...)
	logprobs, _ := kit.ReadObject(choice.Get("logprobs"))
	for _, m := range logprobs {
		if items := kit.Items(m.Value); items != nil {
			set(&x.logprobs, m.Name, append(x.logprobs[m.Name], items...))
		}
	}
}

// all returns what was collected.
func (x *chatExtras) all() kit.Extras {
	if len(x.annotations) > 0 {
		x.Set("annotations", kit.List(x.annotations...))
	}
	if len(x.logprobs) > 0 {
		joined := map[string]json.RawMessage{}
		for name, items := range x.logprobs {
			joined[name] = kit.List(items...)
		}
		doc, _ := kit.Marshal(joined) // JSON values always have a JSON form
		x.Set("logprobs", doc)
	}
	return x.Extras
}
