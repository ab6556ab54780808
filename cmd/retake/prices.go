package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// prices are those of the flag -price, and the model that those of policies are for.
type prices struct {
	Model string    `flag:"model NAME" help:"the NAME of the model, for the prices of the policies, where the record does not name it"`
	Price priceList `flag:"price LIST" help:"what a million tokens cost: LIST of input=N, output=N, cache_read=N, cache_write=N, reasoning=N"`
}

// priceList is the value of -price.
type priceList struct {
	policy.Price
	given bool
}

// cost returns what tokens cost by the flag, or else own, in the unit of a [policy.Price].
func (p *prices) cost(u message.Usage, own int64) int64 {
	if p.Price.given {
		return p.Price.Cost(u).Micros()
	}
	return own
}

// Set reads a list such as input=3,output=15.
func (p *priceList) Set(list string) error {
	p.given = true
	parts := map[string]**int64{
		"input": new(&p.Input), "output": new(&p.Output), "cache_read": &p.CacheRead,
		"cache_write": &p.CacheWrite, "reasoning": &p.Reasoning,
	}
	seen := map[string]bool{}
	for _, one := range strings.Split(list, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(one), "=")
		price, err := micros(text)
		switch part := parts[name]; {
		case err != nil:
			return fmt.Errorf("%q is no price: %w", one, err)
		case part == nil:
			return fmt.Errorf("%q has no price: give input, output, cache_read, cache_write or reasoning",
				name)
		case seen[name]:
			return fmt.Errorf("%q stands twice: give one price", name)
		case *part == nil:
			*part = &price
		default:
			**part = price
		}
		seen[name] = true
	}
	return nil
}

// micros reads a decimal number in millionths.
func micros(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 6 {
		return 0, errors.New("give at most 6 decimals")
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", 6-len(fraction)), 10, 63)
	if err != nil || whole == "" {
		return 0, errors.New("write input=3,output=15 with numbers of 0 or more")
	}
	return int64(n), nil
}
