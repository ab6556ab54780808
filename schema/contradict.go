package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/retake-go/retake/internal/canon"
)

// limitation is a bound of a number, or of how many characters, items or members there are.
type limitation struct {
	said string
	// of is the end of the keyword: "imum" for a number, "length", "items" or "properties".
	of             string
	isMost, isOpen bool
	bound          *big.Rat
}

// contradiction returns an error if a lower bound of a schema, or of an alternative, is above an upper one,
// so that no value keeps to both.
func contradiction(n *jsonschema.Schema) error {
	all := limitationsOf(n)
	for _, low := range all {
		for _, high := range all {
			if low.of != high.of || low.isMost || !high.isMost {
				continue
			}
			if order := low.bound.Cmp(high.bound); order > 0 || order == 0 && (low.isOpen || high.isOpen) {
				return fmt.Errorf("no value can be %s and %s: mend the rules", low.said, high.said)
			}
		}
	}
	for _, alternative := range n.AnyOf {
		if err := contradiction(alternative); err != nil {
			return err
		}
	}
	return nil
}

func limitationsOf(n *jsonschema.Schema) (all []limitation) {
	text, _ := marshalPlain(&jsonschema.Schema{
		Minimum: n.Minimum, ExclusiveMinimum: n.ExclusiveMinimum, Maximum: n.Maximum, ExclusiveMaximum: n.ExclusiveMaximum,
		MinLength: n.MinLength, MaxLength: n.MaxLength, MinItems: n.MinItems, MaxItems: n.MaxItems,
		MinProperties: n.MinProperties, MaxProperties: n.MaxProperties,
	})
	bounds, decode := map[string]any{}, json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	_ = decode.Decode(&bounds) // cannot fail: it was written here
	for _, keyword := range canon.Keys(bounds) {
		name := strings.ToLower(strings.TrimPrefix(keyword, "exclusive"))
		bound, _ := new(big.Rat).SetString(string(bounds[keyword].(json.Number)))
		all = append(all, limitation{
			said: phrase(keyword, map[string]any{keyword: bounds[keyword]}), of: name[len("min"):],
			isMost: strings.HasPrefix(name, "max"), isOpen: strings.HasPrefix(keyword, "exclusive"), bound: bound,
		})
	}
	for _, sub := range n.AllOf {
		all = append(all, limitationsOf(sub)...)
	}
	return all
}
