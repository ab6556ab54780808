package after_test

import (
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/after"
)

// hasty is a mock clock that is moved just before it is asked for an After.
type hasty struct {
	*clock.Mock
	by time.Duration
}

func (c hasty) After(d time.Duration) <-chan time.Time {
	if c.by > 0 {
		c.Add(c.by)
	}
	return c.Mock.After(d)
}

// A clock that is moved by hand fires an After for a time that is over at its next move alone. Nobody waits
// for that.
func TestATimeThatIsReachedMeanwhileFires(t *testing.T) {
	for name, c := range map[string]hasty{
		"before the time was compared": {clock.NewMock(), 0},
		"just before it was asked":     {clock.NewMock(), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			at := c.Now().Add(time.Minute)
			if c.by == 0 {
				c.Add(time.Minute)
			}
			var p after.Pending
			next := p.Until(at, c)
			select {
			case now := <-next.Fired:
				assert.Equal(t, at, now)
			default:
				t.Fatal("it waits for another move of the clock")
			}
			p.Fired(next)
			assert.Empty(t, p)
		})
	}
}
