package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/go-playground/validator/v10"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// contest is one document, checked by us and by what users would write otherwise.
type contest struct {
	name        string
	good        bool
	ours, peers func()
}

type forecast struct {
	City  string `json:"city" validate:"required" jsonschema:"minLength=1,maxLength=80"`
	Days  int    `json:"days" validate:"min=1,max=14" jsonschema:"minimum=1,maximum=14"`
	Units string `json:"units" validate:"oneof=metric imperial" jsonschema:"enum=metric,enum=imperial"`
}

type ticket struct {
	Title    string   `json:"title" validate:"required,max=200"`
	Body     string   `json:"body" jsonschema:"description=What happened.,minLength=1"`
	Labels   []string `json:"labels,omitempty" validate:"max=5,unique,dive,min=1"`
	Assignee *string  `json:"assignee" validate:"omitempty,email"`
	Priority string   `json:"priority" validate:"oneof=low normal high"`
	Due      string   `json:"due,omitempty" validate:"omitempty,datetime=2006-01-02"`
}

type query struct {
	Table   string            `json:"table" validate:"required,alphanum"`
	Columns []string          `json:"columns" validate:"min=1"`
	Where   map[string]string `json:"where,omitempty"`
	Limit   int               `json:"limit" validate:"gte=1,lte=1000" jsonschema:"default=100"`
	Between *struct {
		From int `json:"from"`
		To   int `json:"to" validate:"gtfield=From"`
	} `json:"between"`
}

type mail struct {
	To      []string `json:"to" validate:"min=1,dive,email"`
	Subject string   `json:"subject" validate:"required,max=120"`
	Text    string   `json:"text" validate:"required"`
	Urgent  bool     `json:"urgent"`
}

// contestsOf makes contests of documents of a type, with what users would write: a good document is decoded
// as encoding/json does it by itself, a bad one as strictly as it can, and all that is said of it is written.
func contestsOf[T any](t testing.TB, name string, docs ...string) (all []contest) {
	typed, err := schema.For[T]()
	require.NoError(t, err)
	v := validator.New(validator.WithRequiredStructEnabled())
	for _, text := range docs {
		doc := []byte(text)
		_, issues := typed.Decode(doc)
		all = append(all, contest{name, issues == nil, func() { typed.Decode(doc) }, func() {
			var into T
			if issues == nil {
				_, _ = json.Unmarshal(doc, &into), v.Struct(&into)
			} else {
				_ = strictly(v, doc, &into)
			}
		}})
	}
	return all
}

// strictly checks as strictly as the standard library and the validator can: no unknown members, nothing
// after the document.
func strictly(v *validator.Validate, doc []byte, into any) (said string) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		said = err.Error()
	} else if _, err := d.Token(); !errors.Is(err, io.EOF) {
		said = "more than one document"
	}
	if err := v.Struct(into); err != nil {
		said += err.Error()
	}
	return said
}

// mutated makes contests of a good document of a type and of bad ones.
func mutated[T any](t testing.TB, name, good string) []contest {
	return contestsOf[T](t, name, mutations(t, good, 6)...)
}

// typedContests are of types with every kind of field and every rule, and of small types as people write
// them.
func typedContests(t testing.TB) []contest {
	return slices.Concat(
		mutated[order](t, "order", string(orderDocument(t))), mutated[mixed](t, "mixed", mixedDocument),
		mutated[stringsType](t, "strings", bridgedTypes[0].good), mutated[patternsType](t, "patterns", bridgedTypes[1].good),
		mutated[formatsType](t, "formats", bridgedTypes[2].good), mutated[numbersType](t, "numbers", bridgedTypes[3].good),
		mutated[listsType](t, "lists", bridgedTypes[4].good), mutated[structsType](t, "structs", bridgedTypes[5].good),
		mutated[forecast](t, "forecast", `{"city":"Lisbon","days":3,"units":"metric"}`),
		mutated[ticket](t, "ticket", `{"title":"It breaks","body":"When it is asked.","labels":["bug","ui"],"assignee":"a@b.co","priority":"high","due":"2026-01-02"}`),
		mutated[query](t, "query", `{"table":"orders","columns":["id","total"],"where":{"state":"open"},"limit":10,"between":{"from":1,"to":2}}`),
		mutated[mail](t, "mail", `{"to":["a@b.co","c@d.co"],"subject":"Hello","text":"How are you?","urgent":false}`),
	)
}

// rawContests are of schemas that generators write, as far as the library takes them too, with replies of
// models.
func rawContests(t testing.TB) (all []contest) {
	files, err := filepath.Glob(generators + "/*")
	require.NoError(t, err)
	for _, path := range files {
		var ours *schema.Schema
		var peer *jsonschema.Schema
		datadriven.RunTestAny(t, path, func(t testing.TB, d *datadriven.TestData) string {
			doc := []byte(d.Input)
			if d.Cmd == "compile" {
				ours, _ = schema.Compile(doc)
				peer, _ = compiledAlone(t, doc)
			} else if s, p := ours, peer; s != nil && p != nil && json.Valid(doc) {
				all = append(all, contest{path, s.Check(doc) == nil, func() { s.Check(doc) }, func() {
					tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
					if err == nil {
						err = p.Validate(tree)
					}
					if err != nil {
						_ = err.Error()
					}
				}})
			}
			return d.Expected
		})
	}
	return all
}

// contestGroup are the contests of one kind.
type contestGroup struct {
	name string
	all  []contest
}

func contests(t testing.TB) []contestGroup {
	return []contestGroup{{"typed", typedContests(t)}, {"ordinary", ordinaryContests(t)}, {"raw", rawContests(t)}}
}

func TestEachContestHasGoodAndBadDocuments(t *testing.T) {
	for _, of := range contests(t) {
		count := map[bool]int{}
		for _, c := range of.all {
			count[c.good]++
			c.ours()
			c.peers()
		}
		require.Greater(t, min(count[true], count[false]), 10, of.name)
	}
}

// BenchmarkBesidePeers reports our time as a share of the peers' (encoding/json and the validator, or the
// library): the geometric mean, the median and the worst of all types and schemas.
func BenchmarkBesidePeers(b *testing.B) {
	for _, of := range contests(b) {
		for _, good := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/good=%t", of.name, good), func(b *testing.B) {
				var ratios []float64
				logs := 0.0
				for _, c := range of.all {
					if c.good == good {
						ratios = append(ratios, shareOf(b.N, c.ours, c.peers))
						logs += math.Log(ratios[len(ratios)-1])
					}
				}
				slices.Sort(ratios)
				b.ReportMetric(math.Exp(logs/float64(len(ratios))), "mean-ratio")
				b.ReportMetric(ratios[len(ratios)/2], "median-ratio")
				b.ReportMetric(ratios[len(ratios)-1], "worst-ratio")
			})
		}
	}
}

// shareOf is the time of a function as a share of a peer's: of each the fastest of a few rounds, which take
// turns, so that a machine that is slow for a while is slow for both.
func shareOf(times int, ours, peer func()) float64 {
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 9 {
		for n, f := range []func(){ours, peer} {
			start := time.Now()
			for range times {
				f()
			}
			best[n] = min(best[n], time.Since(start))
		}
	}
	return float64(best[0]) / float64(best[1])
}
