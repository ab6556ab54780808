package after_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/after"
)

// Alarms are called in the order of their times, each when it was set last, and those that were taken back
// not at all.
func TestAlarmsAreCalledAtTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var called []string
		alarm := func(name string) *after.Alarm {
			return after.NewAlarm(func() { called = append(called, name+" "+time.Since(begun).String()) })
		}
		a := after.Alarms{Clock: clock.New()}
		late, soon, never := alarm("late"), alarm("soon"), alarm("never")
		a.Set(late, begun.Add(time.Second))
		a.Set(never, begun.Add(time.Minute))
		a.Set(soon, begun.Add(time.Hour))
		a.Set(soon, begun.Add(2*time.Second))
		a.Set(late, begun.Add(3*time.Second))
		a.Set(never, time.Time{})
		next, set := a.Next()
		assert.True(t, set)
		assert.Equal(t, begun.Add(2*time.Second), next)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"soon 2s", "late 3s"}, called)
		_, set = a.Next()
		assert.False(t, set)
	})
}

// What is set and taken back asks the clock once.
func TestAlarmsThatAreTakenBackDoNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{Clock: clock.New()}
		a := after.Alarms{Clock: c}
		for range 100 {
			x := after.NewAlarm(func() { t.Error("it was taken back") })
			a.Set(x, time.Now().Add(time.Minute))
			synctest.Wait()
			a.Set(x, time.Time{})
			synctest.Wait()
		}
		assert.Equal(t, 1, c.asked)
		time.Sleep(time.Hour)
	})
}

type counting struct {
	clock.Clock
	asked int
}

func (c *counting) After(d time.Duration) <-chan time.Time {
	c.asked++
	return c.Clock.After(d)
}
