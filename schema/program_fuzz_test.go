package schema_test

import (
	"testing"

	"github.com/retake-go/retake/schema"
)

// FuzzProgram holds what the fast path says of any document under any schema to what the library says: the same verdict
// wherever it gives one, the same issues.
func FuzzProgram(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		if len(text)+len(doc) > 2000 {
			return
		}
		s, err := schema.Compile(text)
		if err != nil {
			return
		}
		sameVerdict(t, s, doc)
	})
}

// mixed has every kind of field that programs put values into.
type mixed struct {
	base
	Text   string             `json:"text,omitempty" validate:"omitempty,email"`
	Word   named              `json:"word" validate:"alpha|numeric"`
	Small  uint8              `json:"small" validate:"lt=200"`
	Long   int64              `json:"long"`
	Real   float64            `json:"real" validate:"omitempty,gt=0.1"`
	Short  float32            `json:"short"`
	Flag   *bool              `json:"flag"`
	Deep   **int              `json:"deep"`
	List   [][]string         `json:"list" validate:"dive,max=2,dive,min=1"`
	Set    []string           `json:"set" validate:"unique"`
	Texts  map[string]string  `json:"texts" validate:"dive,keys,lowercase,endkeys,required"`
	Reals  map[named]*float64 `json:"reals"`
	Any    any                `json:"any"`
	Bytes  []byte             `json:"bytes"`
	Pair   [2]int             `json:"pair"`
	Self   *mixed             `json:"self"`
	Kids   []mixed            `json:"kids" validate:"max=2,dive"`
	Named  map[string]inner   `json:"named" validate:"dive" retake:"echo"`
	Before int                `json:"before" validate:"ltefield=Long"`
}

var mixedTypes = []bridged{
	bridgedOf[mixed]("mixed", ""), bridgedOf[order]("order", ""), bridgedOf[*treeish]("pointer", ""),
	bridgedOf[[]inner]("list", ""), bridgedOf[map[string]*inner]("map", ""), bridgedOf[withIssues]("issues", ""),
}

// FuzzDecode holds the fast path of Go types to the decoder, the validator and the library: the same value, the same issues.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(1), orderDocument(f))
	for _, seed := range []string{
		`{"id":"a","text":"a@b.co","word":"ab","small":3,"long":-7,"real":0.5,"short":0.1,"flag":null,"deep":1,"list":[["a"],[]],"set":["a","b"],
			"texts":{"a":"b","\u00e9":"\n"},"reals":{"x":1.5,"y":null},"any":[{"a":1}],"bytes":"YQ==","pair":[1,2]}`,
		`{"id":"a","word":"1","self":{"id":"b","word":"x","kids":[{"id":"c","word":"x"}]},"named":{"n":{"name":"x"}},"before":1,"long":2.0}`,
		`{"id":"a","word":"-","before":3,"small":200,"real":0.1,"set":["a","a"],"texts":{"A":""}}`,
	} {
		f.Add(uint8(0), []byte(seed))
	}
	f.Add(uint8(2), []byte(`{"value":1,"kids":[{"value":1}],"left":null}`))
	f.Add(uint8(3), []byte(`[{"name":"a"},{"name":""}]`))
	f.Add(uint8(4), []byte(`{"a":{"name":"b"},"c":null,"a":null}`))
	f.Add(uint8(5), []byte(`{"from":3,"to":2}`))
	f.Fuzz(func(t *testing.T, kind uint8, doc []byte) {
		if len(doc) > 4000 {
			return
		}
		b := mixedTypes[int(kind)%len(mixedTypes)]
		sameAsSlowly(t, b, doc)
		sameVerdict(t, b.checked, doc)
	})
}
