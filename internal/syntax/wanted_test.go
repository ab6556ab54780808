package syntax_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/syntax"
)

// offsetOf is the offset at which a strict decoder stops; -1 if the text is JSON.
func offsetOf(text string) int {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	for {
		_, err := dec.ReadToken()
		var syntactic *jsontext.SyntacticError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return -1
		case errors.As(err, &syntactic):
			return int(syntactic.ByteOffset)
		default:
			return -1
		}
	}
}

func TestWanted(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"cut_in_list":          {`{"a":[1,`, syntax.Complete},
		"cut_in_word":          {`{"a":tru`, syntax.Complete},
		"cut_in_string":        {`{"a":"x`, syntax.Complete},
		"cut_in_escape":        {`{"a":"\`, syntax.Complete},
		"prose_before":         {`Sure: {"a":1}`, syntax.Alone},
		"fence":                {"```json\n{}\n```", syntax.Alone},
		"single_quoted_value":  {`{"a":'x'}`, syntax.Quotes},
		"single_quoted_name":   {`{'a':1}`, syntax.Quotes},
		"single_quotes_alone":  {`'a'`, syntax.Quotes},
		"typographic":          {`{“a”:1}`, syntax.Quotes},
		"bare_name":            {`{a:1}`, syntax.Quotes},
		"bare_value":           {`{"city":Lisbon}`, syntax.Quotes},
		"bare_value_like_true": {`{"count":two}`, syntax.Quotes},
		"bare_value_like_null": {`{"city": new york}`, syntax.Quotes},
		"bare_name_like_false": {`{from: 1}`, syntax.Quotes},
		"more_than_true":       {`{"a":trueish}`, syntax.Quotes},
		"half_of_true":         {`[tru, 1]`, syntax.Quotes},
		"nan_in_small_letters": {`{"a":nan}`, syntax.NoNumber},
		"call_like_null":       {`{"a":now()}`, syntax.Literals},
		"true_and_no_comma":    {`[true"a"]`, syntax.Separators},
		"no_break_space":       {"{\"a\":\u00a0\"x\"}", syntax.Spaces},
		"byte_order_mark":      {"{\ufeff\"a\":1}", syntax.Spaces},
		"break_written_out":    {`{"a": \n[1]}`, syntax.Spaces},
		"escape_after_letters": {`{"a":"a tru\q"}`, syntax.Escapes},
		"break_after_letters":  {"{\"a\":\"a tru\nx\"}", syntax.Lines},
		"escaped_throughout":   {`{\"a\":1}`, syntax.BareQuotes},
		"quotes_in_string":     {`{"a":"he "said" it"}`, syntax.InnerQuotes},
		"python_true":          {`{"a":True}`, syntax.PythonWords},
		"python_none_alone":    {`None`, syntax.PythonWords},
		"nan":                  {`{"a":NaN}`, syntax.NoNumber},
		"ends_in_point":        {`{"a":1.}`, syntax.Numbers},
		"begins_with_point":    {`{"a":.5}`, syntax.Numbers},
		"plus":                 {`{"a":+5}`, syntax.Numbers},
		"leading_zero":         {`{"a":01}`, syntax.Numbers},
		"underscore":           {`{"a":1_000}`, syntax.Numbers},
		"bare_minus":           {`{"a":-}`, syntax.Numbers},
		"bare_exponent":        {`{"a":1e}`, syntax.Numbers},
		"raw_line_break":       {"{\"a\":\"x\ny\"}", syntax.Lines},
		"raw_tab":              {"{\"a\":\"x\ty\"}", syntax.Controls},
		"odd_escape":           {`{"a":"C:\dir"}`, syntax.Escapes},
		"lone_surrogate":       {`{"a":"\ud800"}`, syntax.CodePoints},
		"short_escape":         {`{"a":"\u12"}`, syntax.CodePoints},
		"last_comma_of_list":   {`[1, ]`, syntax.LastComma},
		"last_comma_of_object": {`{"a":1,}`, syntax.LastComma},
		"two_commas":           {`[1,,2]`, syntax.Values},
		"comma_first":          {`{,"a":1}`, syntax.Values},
		"no_value":             {`{"a":}`, syntax.Values},
		"no_comma":             {`{"a":1 "b":2}`, syntax.Separators},
		"no_colon":             {`{"a" 1}`, syntax.Separators},
		"equals":               {`{"a"=1}`, syntax.Separators},
		"number_as_name":       {`{1:2}`, syntax.Names},
		"list_as_name":         {`{"a":[1],[2]}`, syntax.Names},
		"wrong_bracket":        {`[1}`, syntax.Brackets},
		"tuple":                {`{"a":(1,2)}`, syntax.Lists},
		"comment":              {"{\"a\":1 // x\n}", syntax.Comments},
		"python_comment":       {"{\"a\":1, # x\n}", syntax.Comments},
		"dots":                 {`[1, ...]`, syntax.Dots},
		"expression":           {`{"a":2*3}`, syntax.Literals},
		"expression_of_names":  {`{"a":x + 1}`, syntax.Literals},
		"call":                 {`{"a":now()}`, syntax.Literals},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at := offsetOf(c.text)
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, c.want, syntax.Wanted(c.text, at))
		})
	}
}

// A value that begins correctly is no mistake. An offset there stands for the whole value.
func TestWantedOfWholes(t *testing.T) {
	assert.Equal(t, syntax.Object, syntax.Wanted(`{"arguments": "{'a': "}`, 14))
	assert.Empty(t, syntax.Wanted(`<tool_call>{"arguments": {}}`, 11))
	assert.Empty(t, syntax.Wanted(`{"arguments": {}}`, 0))
	assert.Empty(t, syntax.Wanted(`["f(x=)"]`, 1))
}

// Another reader reads Python calls. Only its offsets are used here.
func TestWantedOfCalls(t *testing.T) {
	assert.Equal(t, syntax.Arguments, syntax.Wanted("f(case_id, details)", 2))
	assert.Equal(t, syntax.Literals, syntax.Wanted("f(name=papal_name)", 7))
	assert.Equal(t, syntax.Literals, syntax.Wanted("f(energy=g(mols=5))", 9))
	assert.Equal(t, syntax.InnerQuotes, syntax.Wanted("f({'a': 'It''s'})", 12))
	assert.Equal(t, syntax.Tags, syntax.Wanted("<tool_call>f\n<a>1</a></tool_call>", 13))
	assert.Equal(t, syntax.Tags, syntax.Wanted("<tool_call>f\n</tool_call>", 13))
}

func FuzzWanted(f *testing.F) {
	for _, seed := range []string{"", " ", "{", `{"a":'`, `{"a":1,}`, "\\", "-", "…", "a\xff"} {
		f.Add(seed, len(seed)/2)
	}
	f.Fuzz(func(t *testing.T, text string, offset int) {
		got := syntax.Wanted(text, offset)
		require.Equal(t, got, syntax.Wanted(text, offset))
		require.LessOrEqual(t, len(got), 80, "a phrase, whatever the text")
		if at := offsetOf(text); at >= 0 && utf8.ValidString(text) && !strings.Contains(text, `"`) {
			require.NotEmpty(t, syntax.Wanted(text, at), "where a decoder stops, something is wrong")
		}
	})
}
