package console_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/tool"
)

// A person sees what is approved, not what looks like it.
func TestWhatIsApprovedIsSeenAsItIs(t *testing.T) {
	type anything struct {
		To    string  `json:"to"`
		Share float64 `json:"share"`
		Note  any     `json:"note"`
	}
	pay := tool.New("pay", "Pays.", func(context.Context, anything) (string, error) { return "", nil }, always)
	for arguments, want := range map[string][]string{
		// letters that are empty, and selectors that do nothing to the letter before
		`{"to":"Acme\u3164","share":1,"note":1}`:    {`&#34;Acme\u3164&#34;</textarea>`, `to Acme⟨U&#43;3164⟩`},
		`{"to":"Acme\ufe0f","share":1,"note":1}`:    {`&#34;Acme\ufe0f&#34;</textarea>`},
		`{"to":"a\udb40\udd01","share":1,"note":1}`: {`&#34;a\udb40\udd01&#34;</textarea>`},
		// an emoji is one, and needs no quotes
		`{"to":"⚠️ Acme","share":1,"note":1}`: {"\n⚠️ Acme</textarea>", "to ⚠️ Acme</span>"},
		// numbers have all their digits, and texts that look like them are quoted
		`{"to":"5","share":0.1000000001,"note":5}`:   {`value="0.1000000001"`, "\n5</textarea>", `note 5, share 0.1000000001, to &#34;5&#34;</span>`},
		`{"to":"x","share":1e21,"note":"5"}`:         {`value="1e21"`, "\n&#34;5&#34;</textarea>", `note &#34;5&#34;, share 1e21, to x</span>`},
		`{"to":"Bolt, share 2","share":1,"note":""}`: {`note &#34;&#34;, share 1, to &#34;Bolt, share 2&#34;</span>`},
	} {
		dir := t.TempDir()
		put(t, dir, "order-7.jsonl", asked(t, "order-7", arguments, time.Hour, pay))
		page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox"))
		for _, one := range want {
			assert.Contains(t, page, one, arguments)
		}
	}
}
