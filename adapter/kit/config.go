package kit

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Faults collects the faults of a configuration, each with the name of its field and the valid values. The
// zero value is ready.
type Faults struct{ all []error }

// Refuse adds a fault if bad.
func (c *Faults) Refuse(bad bool, format string, args ...any) {
	if bad {
		c.all = append(c.all, fmt.Errorf(format, args...))
	}
}

// Model refuses an empty name of a model.
func (c *Faults) Model(name string) {
	c.Refuse(Blank(name), "Model: is empty; name a model of the server")
}

// Tokens refuses a number of tokens below 0 or above [math.MaxInt32]. 0 is the server's own bound.
func (c *Faults) Tokens(field string, n int64) {
	c.Refuse(n < 0 || n > math.MaxInt32, "%s: must be 1 to %d, or 0 for the server's own bound, not %d",
		field, math.MaxInt32, n)
}

// Range refuses a number that is not from least to most. nil is the server's own.
func (c *Faults) Range(field string, v *float64, least, most float64) {
	c.Refuse(v != nil && !(*v >= least && *v <= most), "%s: must be from %v to %v, or nil", field, least,
		most)
}

// Share refuses a number that is not above 0 and at most 1. nil is the server's own.
func (c *Faults) Share(field string, v *float64) {
	c.Refuse(v != nil && !(*v > 0 && *v <= 1), "%s: must be above 0 and at most 1, or nil", field)
}

// Address refuses an address that is not http or https with a host, that has a user, a query or a fragment,
// or that ends in the path that the model adds, and a key of other characters than printable ASCII, which no
// header can hold.
func (c *Faults) Address(address, key, path string) {
	u, err := url.Parse(address)
	good := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" &&
		u.Fragment == "" && u.User == nil
	c.Refuse(!good, "URL: must be one such as http://localhost:8080: http or https with a host, and "+
		"without user, query and fragment")
	if err == nil && u.Port() != "" {
		_, err = strconv.ParseUint(u.Port(), 10, 16)
		c.Refuse(err != nil, "URL: the port %s: give one up to %d", u.Port(), math.MaxUint16)
	}
	c.Refuse(good && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/"+path),
		"URL: ends in /%s, which is added to it: leave that out", path)
	c.Refuse(strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }),
		"Key: must be of printable ASCII characters")
}

// OneOf refuses a value that is not known. An empty one is known only if "" is among the known.
func OneOf[S ~string](c *Faults, field string, value S, known ...S) {
	names := make([]string, len(known))
	for n, k := range known {
		if names[n] = fmt.Sprintf("%q", k); k == "" {
			names[n] = "empty"
		}
	}
	c.Refuse(!slices.Contains(known, value), "%s: %q is none of %s", field, value, strings.Join(names, ", "))
}

// Err returns an error that joins all faults; nil if there is none.
func (c *Faults) Err() error { return errors.Join(c.all...) }

// Least returns the smaller of two bounds on a reply, in tokens; 0 is no bound.
func Least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
