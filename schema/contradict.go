package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/retake-go/retake/internal/canon"
)

// contradiction is an error if no value keeps to the bounds and the values that a schema lists, or those of an
// alternative.
func contradiction(n *jsonschema.Schema) error {
	if why := excluded(n, n.Type == "integer"); why != "" {
		return fmt.Errorf("no value can be %s: mend the rules", why)
	}
	return nil
}

// excluded names two constraints that exclude each other; empty where none do.
func excluded(n *jsonschema.Schema, whole bool) string {
	all := limitationsOf(n)
	for _, low := range all {
		for _, high := range all {
			if low.sign > 0 && high.sign < 0 && low.counts == high.counts && isBetweenNone(low, high, whole) {
				return low.said + " and " + high.said
			}
		}
	}
	for n, values := range all {
		for _, other := range slices.Concat(all[:n], all[n+1:]) {
			if values.values != nil && !slices.ContainsFunc(values.values, other.allows) {
				said := []string{values.said, other.said}
				slices.Sort(said)
				return strings.Join(said, " and ")
			}
		}
	}
	for _, alternative := range n.AnyOf {
		if why := excluded(alternative, whole); why != "" {
			return why
		}
	}
	return ""
}

// limitation is a bound of a number or of a count, or the values that may stand.
type limitation struct {
	said   string
	counts string // the end of the keyword of a count
	sign   int    // 1 for what must be at least so, -1 for what must be at most so
	strict bool
	bound  *big.Rat
	values []any
}

func limitationsOf(n *jsonschema.Schema) (all []limitation) {
	text, _ := marshalPlain(&jsonschema.Schema{
		Minimum: n.Minimum, ExclusiveMinimum: n.ExclusiveMinimum, Maximum: n.Maximum, ExclusiveMaximum: n.ExclusiveMaximum,
		MinLength: n.MinLength, MaxLength: n.MaxLength, MinItems: n.MinItems, MaxItems: n.MaxItems,
		MinProperties: n.MinProperties, MaxProperties: n.MaxProperties, Enum: n.Enum, Const: n.Const,
	})
	said, decode := map[string]any{}, json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	_ = decode.Decode(&said) // cannot fail: it was written here
	for _, keyword := range canon.Keys(said) {
		c := limitation{said: phrase(keyword, map[string]any{keyword: said[keyword]})}
		switch v := said[keyword].(type) {
		case json.Number:
			c.bound, _ = new(big.Rat).SetString(string(v))
			name := strings.TrimPrefix(strings.ToLower(keyword), "exclusive")
			c.strict = len(name) < len(keyword)
			c.sign = 1
			if strings.HasPrefix(name, "max") {
				c.sign = -1
			}
			if c.counts = name[len("min"):]; c.counts == "imum" {
				c.counts = ""
			}
		case []any:
			c.values = v
		}
		if keyword == "const" {
			c.values, c.bound, c.sign = []any{said[keyword]}, nil, 0
		}
		all = append(all, c)
	}
	for _, sub := range n.AllOf {
		all = append(all, limitationsOf(sub)...)
	}
	return all
}

// isBetweenNone reports whether there is no number, or no whole one, between two bounds.
func isBetweenNone(low, high limitation, whole bool) bool {
	if !whole {
		order := low.bound.Cmp(high.bound)
		return order > 0 || order == 0 && (low.strict || high.strict)
	}
	return low.nearest().Cmp(high.nearest()) > 0
}

// nearest is the first whole number on the right side of a bound.
func (c limitation) nearest() *big.Int {
	one, least := big.NewInt(int64(c.sign)), new(big.Int)
	rest := new(big.Int)
	least.DivMod(c.bound.Num(), c.bound.Denom(), rest)
	if isWhole := rest.Sign() == 0; isWhole && c.strict || !isWhole && c.sign > 0 {
		least.Add(least, one)
	}
	return least
}

// allows reports whether a value keeps to a limitation, as far as the limitation is about such values.
func (c limitation) allows(v any) bool {
	number := new(big.Rat)
	switch v := v.(type) {
	case string:
		number.SetInt64(int64(utf8.RuneCountInString(v)))
	case json.Number:
		number, _ = number.SetString(string(v))
	}
	isText := c.counts == "length"
	_, isString := v.(string)
	_, isNumber := v.(json.Number)
	switch {
	case c.values != nil:
		return slices.ContainsFunc(c.values, func(w any) bool { return jsonText(v) == jsonText(w) })
	case c.bound == nil || isText && !isString || c.counts == "" && !isNumber || !isText && c.counts != "":
		return true
	}
	order := number.Cmp(c.bound) * c.sign
	return order > 0 || order == 0 && !c.strict
}
