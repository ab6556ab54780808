package result

import (
	"math"
	"math/big"
	"strconv"
)

// Cost is an amount in US dollars: a total alone, or with the parts it is made of.
// Amounts are finite and not negative. The zero value is unknown.
type Cost struct {
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
	// Total is the sender's; [Cost.Amount] where it may be missing.
	Total float64
}

// Amount returns the total: the sender's, else the sum of the parts.
func (c Cost) Amount() float64 {
	if c.Total != 0 {
		return c.Total
	}
	return addMoney(addMoney(c.Input, c.Output), addMoney(c.CacheRead, c.CacheWrite))
}

// hasParts reports whether any part is known.
func (c Cost) hasParts() bool { return c != Cost{Total: c.Total} }

// Plus returns the sum, part by part. If one of them is a total alone, the total is more than the sum of its
// parts.
func (c Cost) Plus(d Cost) Cost {
	return Cost{
		Input:      addMoney(c.Input, d.Input),
		Output:     addMoney(c.Output, d.Output),
		CacheRead:  addMoney(c.CacheRead, d.CacheRead),
		CacheWrite: addMoney(c.CacheWrite, d.CacheWrite),
		Total:      addMoney(c.Amount(), d.Amount()),
	}
}

// addMoney adds in decimals: 0.1 and 0.2 are 0.3. NaN and infinity stay.
func addMoney(a, b float64) float64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	case math.IsNaN(a+b) || math.IsInf(a+b, 0):
		return a + b
	}
	sum, _ := new(big.Rat).Add(decimal(a), decimal(b)).Float64()
	return sum
}

// decimal returns the decimal number that a float is written as.
func decimal(f float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}
