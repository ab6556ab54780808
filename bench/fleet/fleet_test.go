package fleet

import (
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

var rewrite = flag.Bool("rewrite", false, "write the tables and plots of docs/fleet.md")

const doc = "../../docs/fleet.md"

// limiters are what is played: those of the simulator by their names, and others.
var limiters = []struct {
	name string
	with func(*simulate.Clock) simulate.Limiter
}{
	{name: "none"},
	{name: "fixed"},
	{name: "aimd"},
	{"failsafe-go", newFailsafe},
	{"inspect_ai", newInspect},
	{"aws", newAWS},
	{"grpc", newGRPC},
	{name: "retake"},
}

func play(t *testing.T, s simulate.Settings) (all []simulate.Played) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for _, l := range limiters {
			one := simulate.Played{Limiter: l.name}
			var err error
			if s.Limiter = l.name; l.with == nil {
				one.Result, err = simulate.Run(s)
			} else {
				one.Result, err = simulate.RunWith(s, l.with)
			}
			require.NoError(t, err)
			all = append(all, one)
		}
	})
	return all
}

// fleets are what is played, by the name of its table: a file of docs/fleet, with the default policy, or with
// one that never gives up, which has a plot, too.
var fleets = []struct {
	name, file string
	patient    bool
}{
	{"fifty", "fifty", false},
	{"limits", "limits", false},
	{"limits-patient", "limits", true},
	{"outage-patient", "outage", true},
}

func settings(t *testing.T, name string, patient bool) (s simulate.Settings) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, file.ReadOther(name, data, &s))
	if patient {
		s.Transport.MaxAttempts = policy.Unlimited
	}
	return s
}

// The tables and plots of other algorithms in docs/fleet.md are what comes of them today.
func TestTheOtherAlgorithmsOfTheDocs(t *testing.T) {
	for _, f := range fleets {
		if testing.Short() && f.name != "fifty" {
			continue
		}
		all := play(t, settings(t, "../../docs/fleet/"+f.file+".yaml", f.patient))
		begins, ends := "<!-- "+f.name+" -->\n", "<!-- end -->\n"
		text, err := os.ReadFile(doc)
		require.NoError(t, err)
		before, rest, found := strings.Cut(string(text), begins)
		got, after, closed := strings.Cut(rest, ends)
		require.True(t, found && closed, "%s: put %s and %s where the table belongs", doc, begins, ends)
		want := "```text\n" + simulate.Table(all) + "```\n"
		if *rewrite {
			require.NoError(t, os.WriteFile(doc, []byte(before+begins+want+ends+after), 0o644))
		} else {
			assert.Equal(t, want, got, "%s: run go test ./fleet -rewrite, and commit what you understand", doc)
		}
		if f.patient {
			checkPlot(t, "../../docs/fleet/"+f.name+".svg", simulate.Plot(all))
		}
	}
}

func checkPlot(t *testing.T, name, want string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o644))
	}
	drawn, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, want, string(drawn), "%s: run go test ./fleet -rewrite", name)
}
