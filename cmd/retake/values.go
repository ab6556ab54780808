package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// moment is the value of -now.
type moment struct{ time.Time }

// Set reads a time.
func (m *moment) Set(text string) (err error) {
	if m.Time, err = time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	if m.Time, err = httphint.Epoch(text); err == nil {
		return nil
	}
	return errors.New("give a time such as 2030-01-02T15:04:05Z, or seconds since the epoch")
}

// httpStatus is the value of -status.
type httpStatus int

// Set reads a status.
func (s *httpStatus) Set(text string) error {
	n, err := strconv.Atoi(text)
	if *s = httpStatus(n); err != nil || n < 100 || n > 999 {
		return errors.New("give a status of three digits, such as 429")
	}
	return nil
}

// count is the value of a flag that counts.
type count int

// Set reads a whole number of at least 1.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if *c = count(n); err != nil || n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("give a whole number from 1 to %d", math.MaxInt32)
	}
	return nil
}

// age is a length of time as the value of a flag.
type age time.Duration

// Set reads a length of time, in days and weeks too.
func (a *age) Set(text string) error {
	for unit, hours := range map[string]int64{"d": 24, "w": 7 * 24} {
		number, found := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseInt(number, 10, 32); found && err == nil && n >= 0 && n <= 36500 {
			*a = age(time.Duration(n*hours) * time.Hour)
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if *a = age(d); err != nil || d < 0 {
		return errors.New("give a number with a unit, such as 12h, 30d or 8w")
	}
	return nil
}

// share is the value of -cut.
type share float64

// Set reads a share.
func (s *share) Set(text string) error {
	given, err := strconv.ParseFloat(text, 64)
	if *s = share(given); err != nil || !(given > 0 && given <= 1) {
		return errors.New("give a share above 0 and at most 1, such as 0.8")
	}
	return nil
}
