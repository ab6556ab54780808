package masked_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/masked"
)

func TestValuesAreLeftOutByTheirPlaces(t *testing.T) {
	for _, one := range []struct {
		document string
		places   []string
		want     string
	}{
		{`{"b": 1, "a": 2}`, nil, `{"b": 1, "a": 2}`},
		{` {"b": 1.50, "a": 2} `, []string{"/a"}, `{"b":1.50,"a":"[secret]"}`},
		{`{"a":{"x":[1,2]},"b":{}}`, []string{"/a"}, `{"a":"[secret]","b":{}}`},
		{`{"a":[{"x":1,"y":2},{"x":3}, 4]}`, []string{"/a/*/x"}, `{"a":[{"x":"[secret]","y":2},{"x":"[secret]"},4]}`},
		{`{"a":[1,2]}`, []string{"/a/1"}, `{"a":[1,"[secret]"]}`},
		{`{"k":1,"l":[]}`, []string{"/*"}, `{"k":"[secret]","l":"[secret]"}`},
		{`{"a/b~c":1,"d":2}`, []string{"/a~1b~0c"}, `{"a/b~c":"[secret]","d":2}`},
		{`{"a": {"x": [1, 2]}, "b": 3}`, []string{"/b"}, `{"a":{"x":[1,2]},"b":"[secret]"}`},
		{`{"a":{"a":1}}`, []string{"/a", "/a/a"}, `{"a":"[secret]"}`},
		{`{"a":"x"}`, []string{"/a/b"}, `{"a":"x"}`},
		{`{"pin":1,"PIN":2,"pins":3}`, []string{"/pin"}, `{"pin":"[secret]","PIN":"[secret]","pins":3}`},
		{`[1]`, []string{""}, `"[secret]"`},
		{`{"a":1,"a":2}`, []string{"/a"}, `"[secret]"`},
		{`{"a":`, []string{"/b"}, `"[secret]"`},
		{``, []string{"/b"}, `"[secret]"`},
	} {
		assert.Equal(t, one.want, string(masked.JSON([]byte(one.document), one.places)), "%s %q", one.document, one.places)
	}
}
