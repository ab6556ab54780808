package journal

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// fieldContent says what a field of a recorded type holds: the value of its tag `redact`. It decides which
// rules leave the field out. Every field with text has the tag. With "keep" the field and all below it is
// written as it is: it is the program's own, a key or a digest, or made of the redacted events.
type fieldContent string

const (
	isKept     fieldContent = "keep"
	isText     fieldContent = "text"     // what somebody says
	isDocument fieldContent = "document" // JSON with values that rules point to
	isPrompt   fieldContent = "prompt"   // a prompt or template of the program
	isRemark   fieldContent = "note"     // for operators
	isName     fieldContent = "name"     // of a tool, as the model wrote it
	isIssue    fieldContent = "issue"    // the place of an issue, and what would be right there
	isSent     fieldContent = "sent"     // a refused value
	isValue    fieldContent = "value"    // what a reducer keeps in a slice
	isRefused  fieldContent = "reducer"  // what a reducer refused, and its words
)

// tagged is a place in a recorded type: the JSON Pointer of a tagged field.
type tagged struct {
	pointer string
	what    fieldContent
}

// texts are the tagged fields of a type and of the types in it.
type texts []tagged

// The recorded types whose texts are left out. wireState is in headers.
var (
	inHeader   = textsOf[Header]()
	inEvent    = textsOf[machine.Event]()
	inNote     = textsOf[Note]()
	inState    = textsOf[wireState]()
	inMessage  = textsOf[message.Message]()
	inReply    = textsOf[message.Reply]()
	inCall     = textsOf[machine.Call]()
	inToolEnd  = textsOf[machine.ToolEnd]()
	inResponse = textsOf[machine.Response]()
	inReduced  = textsOf[machine.Reduced]()
	inIssue    = textsOf[fault.Issue]()
)

// wireState is the wire form of a session's snapshot.
type wireState struct {
	Format string `json:"format" redact:"keep"`
	ID     string `json:"id" redact:"keep"`
	Slices []struct {
		Name   string            `json:"name" redact:"keep"`
		Kind   session.Kind      `json:"kind"`
		Values []json.RawMessage `json:"values" redact:"value"`
	} `json:"slices"`
	Feedback      []feedback.RetryFeedback `json:"feedback"`
	Attempts      []session.Attempt        `json:"attempts"`
	ReducerErrors []fault.ReducerError     `json:"reducer_errors"`
	Charged       policy.Charge            `json:"charged,omitzero"`
	Runs          int                      `json:"runs,omitempty"`
	Successes     session.Counts           `json:"successes,omitempty" redact:"keep"`
	Approved      []string                 `json:"approved,omitempty" redact:"keep"`
	MaxReplies    map[string]int64         `json:"max_replies,omitempty" redact:"keep"`
}

// freeTexts are the places of all texts from outside, which may be too long or look like a mark.
var freeTexts = sync.OnceValue(func() *places {
	p := new(places)
	for _, in := range []texts{inHeader, inEvent, inNote, inState} {
		for _, one := range in {
			if one.what != isName {
				p.add(one.pointer, "/**")
			}
		}
	}
	return p
})

func textsOf[T any]() texts {
	var t texts
	t.add("", reflect.TypeFor[T]())
	return t
}

// add adds the tagged fields of a type whose values are at a place.
func (t *texts) add(at string, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer:
		t.add(at, of.Elem())
	case reflect.Slice:
		t.add(at+"/*", of.Elem())
	case reflect.Struct:
		for n := range of.NumField() {
			t.addField(at, of.Field(n))
		}
	}
}

func (t *texts) addField(at string, f reflect.StructField) {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
		at += "/" + name
	}
	switch is := fieldContent(f.Tag.Get("redact")); {
	case is == isKept:
	case is == "":
		t.add(at, f.Type)
	case isList(f.Type):
		*t = append(*t, tagged{at + "/*", is})
	default:
		*t = append(*t, tagged{at, is})
	}
}

// isList reports whether a field holds several texts. The names in a map are the program's own.
func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Map || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}

func (t texts) below(places ...string) (all texts) {
	for _, one := range t {
		for _, at := range places {
			if strings.HasPrefix(one.pointer, at+"/") {
				all = append(all, one)
			}
		}
	}
	return all
}

// placesOf returns the places of what is wanted of a type: see addTexts.
func placesOf(in texts, wanted ...fieldContent) *places {
	p := new(places)
	p.addTexts("", in, wanted...)
	return p
}

// addTexts adds the texts of a type whose value is at base: those that hold what is wanted. If nothing is
// named, it adds all but documents, of which rules say what is left out, and names, which are left out only
// if they are of no tool.
func (p *places) addTexts(base string, in texts, wanted ...fieldContent) {
	for _, one := range in {
		if slices.Contains(wanted, one.what) ||
			len(wanted) == 0 && one.what != isName && one.what != isDocument {
			p.add(base, one.pointer)
		}
	}
}
