package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// prices are those of the flag -price.
type prices struct {
	price  policy.Price
	priced bool
}

func (p *prices) declare(fs *flag.FlagSet) {
	usage := "what a million tokens cost: " +
		"`LIST` of input=N, output=N, cache_read=N, cache_write=N, reasoning=N"
	fs.Func("price", usage, p.readPrice)
}

// cost returns what tokens cost by the flag, or else own, in the unit of a [policy.Price].
func (p *prices) cost(u message.Usage, own int64) int64 {
	if p.priced {
		return p.price.Cost(u).Micros()
	}
	return own
}

// readPrice reads a list such as input=3,output=15.
func (p *prices) readPrice(list string) error {
	p.priced = true
	parts := map[string]**int64{
		"input": new(&p.price.Input), "output": new(&p.price.Output), "cache_read": &p.price.CacheRead,
		"cache_write": &p.price.CacheWrite, "reasoning": &p.price.Reasoning,
	}
	given := map[string]bool{}
	for _, one := range strings.Split(list, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(one), "=")
		price, err := micros(text)
		switch part := parts[name]; {
		case err != nil:
			return fmt.Errorf("%q is no price: %w", one, err)
		case part == nil:
			return fmt.Errorf("%q has no price: give input, output, cache_read, cache_write or reasoning",
				name)
		case given[name]:
			return fmt.Errorf("%q stands twice: give one price", name)
		case *part == nil:
			*part = &price
		default:
			**part = price
		}
		given[name] = true
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
