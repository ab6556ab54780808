package sqlite_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

func openLimits(t *testing.T, path string) *sqlite.Limits {
	t.Helper()
	l, err := sqlite.OpenLimits(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func TestLimits(t *testing.T) {
	limittest.Store(t, func(t *testing.T) limiter.Store { return openLimits(t, filepath.Join(t.TempDir(), "limits.db")) })
}

func TestLimitsAndJournalsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	open(t, path)
	swapped, err := openLimits(t, path).Swap(t.Context(), "a", 0, []byte("one"))
	require.NoError(t, err)
	assert.True(t, swapped)
	_, err = sqlite.OpenLimits(t.Context(), "")
	require.ErrorContains(t, err, "the path is empty")
}

// envLimits is the database of a process that makes calls under a limit.
const envLimits = "RETAKE_TEST_LIMITS"

// limited makes calls under a limit until it is killed or its input ends, and prints a line for each.
func limited(path string) error {
	store, err := sqlite.OpenLimits(context.Background(), path)
	if err != nil {
		return err
	}
	defer store.Close()
	l, err := limiter.New(limiter.Config{
		Store: store, Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 100, Period: time.Second}}},
	})
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		grant, err := l.Acquire(context.Background(), limiter.Ask{Scope: "a"})
		if err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("called\n"); err != nil {
			return err
		}
		l.Settle(grant, limiter.Use{Outcome: limit.Served})
	}
	return nil
}

// Processes of one machine keep a limit together, also when one of them is killed.
func TestProcessesShareALimitAndOutliveOneThatIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.db")
	exe, err := os.Executable()
	require.NoError(t, err)
	const calls = 30
	begun := time.Now()
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env, cmd.Stderr = append(os.Environ(), envLimits+"="+path), os.Stderr
			in, err := cmd.StdinPipe()
			assert.NoError(t, err)
			out, err := cmd.StdoutPipe()
			assert.NoError(t, err)
			if !assert.NoError(t, cmd.Start()) {
				return
			}
			heard := bufio.NewScanner(out)
			for done := range calls {
				_, err := in.Write([]byte("one more\n"))
				assert.NoError(t, err)
				if !assert.True(t, heard.Scan()) {
					break
				}
				if n == 0 && done == calls/2 {
					assert.NoError(t, cmd.Process.Kill())
					assert.Error(t, cmd.Wait())
					return
				}
			}
			assert.NoError(t, in.Close())
			assert.NoError(t, cmd.Wait())
		})
	}
	all.Wait()
	least := (2*calls + calls/2) * time.Second / 100
	assert.GreaterOrEqual(t, time.Since(begun), least-50*time.Millisecond)
}
