package backoff

import (
	"math/big"
	"math/bits"
)

// scale is the task min(floor(base·(num/den)^n), limit): num/den is reduced and above 1, den above 1, 0 < base < limit <
// 2^63.
type scale struct {
	base, num, den, n, limit uint64
}

// firstPrecision is where the interval arithmetic starts: 63 bits of result, and enough more that a second round is
// hardly ever needed.
const firstPrecision = 128

// quick computes the exact result in 64 and 128 bits and allocates nothing. It gives up where a power does not fit 64
// bits and the limit has not been reached by then; it does so within 64 steps.
func (s scale) quick() (uint64, bool) {
	num, den := uint64(1), uint64(1)
	for range s.n {
		overNum, nextNum := bits.Mul64(num, s.num)
		overDen, nextDen := bits.Mul64(den, s.den)
		if overNum|overDen != 0 {
			reached := s.times(num, den)
			return reached, reached == s.limit // the delay only grows from here
		}
		num, den = nextNum, nextDen
	}
	return s.times(num, den), true
}

// times is base·num/den rounded down, at most limit.
func (s scale) times(num, den uint64) uint64 {
	hi, lo := bits.Mul64(s.base, num)
	if hi >= den {
		return s.limit
	}
	quotient, _ := bits.Div64(hi, lo, den)
	return min(quotient, s.limit)
}

// exact computes the result at any n.
//
// Up to n = 63 it does so in whole numbers. Beyond, the true product is never a whole number, for den^n would have to
// divide base, and den^n >= 2^63 > base. So an interval around it, rounded outwards at every step, holds no whole number
// once it is narrow enough: both ends then have the same floor, which is the result. The precision doubles until they do.
func (s scale) exact(precision uint) uint64 {
	if s.n < 64 {
		return s.whole()
	}
	for ; ; precision *= 2 {
		if lo, hi := s.interval(precision); lo == hi {
			return lo
		}
	}
}

// whole computes the result in whole numbers of any size.
func (s scale) whole() uint64 {
	num, den := power(s.num, s.n), power(s.den, s.n)
	num.Mul(num, new(big.Int).SetUint64(s.base))
	num.Quo(num, den)
	if !num.IsUint64() {
		return s.limit
	}
	return min(num.Uint64(), s.limit)
}

// power is of to the power of n. Exp of the library would link all that it knows of modular powers.
func power(of, n uint64) *big.Int {
	p, square := big.NewInt(1), new(big.Int).SetUint64(of)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p.Mul(p, square)
		}
		square.Mul(square, square)
	}
	return p
}

// interval is the floors of a lower and an upper bound of the product, at most limit. Square and multiply from the
// highest bit of n keeps every intermediate power at or below the last, so that it may stop at the first one that
// reaches the limit: no number grows past 2^128, and n takes at most 64 rounds.
func (s scale) interval(precision uint) (lo, hi uint64) {
	down := newBound(s, precision, big.ToNegativeInf)
	up := newBound(s, precision, big.ToPositiveInf)
	for bit := bits.Len64(s.n) - 2; bit >= 0; bit-- {
		multiply := s.n>>bit&1 == 1
		down.step(multiply)
		up.step(multiply)
		if down.floor() == s.limit {
			return s.limit, s.limit
		}
	}
	return down.floor(), up.floor()
}

// bound is one end of the interval. Every operation on it rounds the same way, with the precision it was made with;
// big.Float computes in integers, so that no machine rounds otherwise.
type bound struct {
	base, limit   *big.Float
	factor, power *big.Float
}

func newBound(s scale, precision uint, mode big.RoundingMode) bound {
	number := func(v uint64) *big.Float { return new(big.Float).SetPrec(64).SetUint64(v) }
	factor := new(big.Float).SetPrec(precision).SetMode(mode).Quo(number(s.num), number(s.den))
	return bound{base: number(s.base), limit: number(s.limit), factor: factor, power: new(big.Float).Copy(factor)}
}

func (b bound) step(multiply bool) {
	b.power.Mul(b.power, b.power)
	if multiply {
		b.power.Mul(b.power, b.factor)
	}
}

// floor is base·power rounded down to a whole number, at most limit.
func (b bound) floor() uint64 {
	product := new(big.Float).SetPrec(b.power.Prec()).SetMode(b.power.Mode()).Mul(b.base, b.power)
	if product.Cmp(b.limit) >= 0 {
		product = b.limit
	}
	v, _ := product.Uint64()
	return v
}
