package backoff

// Exact gives tests the slow way of a fractional factor at a starting precision of their own.
func Exact(base uint64, factor Decimal, n, limit uint64, precision uint) uint64 {
	num, den := factor.reduced()
	return scale{base, num, den, n, limit}.exact(precision)
}

// Good and Check give tests the quick and the whole way of Validate.
func (s *BackoffStrategy) Good() bool { return s.good() }

func (s BackoffStrategy) Check() error { return s.check(s.present()).err() }
