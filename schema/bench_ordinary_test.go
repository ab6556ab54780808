package schema_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Types as people write them. Nothing is tuned for one of them.
type (
	booking struct {
		Hotel  string  `json:"hotel" validate:"required,max=80"`
		Guest  string  `json:"guest" validate:"required"`
		Email  string  `json:"email" validate:"required,email"`
		From   string  `json:"from" validate:"datetime=2006-01-02"`
		Nights int     `json:"nights" validate:"min=1,max=30"`
		Room   string  `json:"room" validate:"oneof=single double suite"`
		Notes  *string `json:"notes"`
	}
	place struct {
		Street  string `json:"street" validate:"required"`
		City    string `json:"city" validate:"required"`
		Zip     string `json:"zip" validate:"numeric,len=5"`
		Country string `json:"country" validate:"iso3166_1_alpha2"`
	}
	invoice struct {
		Number   string `json:"number" validate:"required"`
		Customer struct {
			Name    string `json:"name" validate:"required"`
			Address place  `json:"address"`
		} `json:"customer"`
		Lines []struct {
			SKU   string  `json:"sku" validate:"alphanum"`
			Count int     `json:"count" validate:"gt=0"`
			Price float64 `json:"price" validate:"gte=0"`
		} `json:"lines" validate:"min=1"`
		Currency string    `json:"currency" validate:"oneof=EUR USD GBP"`
		Issued   time.Time `json:"issued"`
		Paid     bool      `json:"paid"`
	}
	incident struct {
		Severity string    `json:"severity" validate:"oneof=low medium high critical"`
		Title    string    `json:"title" validate:"required,max=120"`
		Summary  string    `json:"summary" jsonschema:"description=Two or three sentences."`
		Services []string  `json:"services" validate:"min=1,unique"`
		Owner    string    `json:"owner" validate:"email"`
		Links    []string  `json:"links,omitempty" validate:"dive,url"`
		Started  time.Time `json:"started"`
	}
	search struct {
		Query   string            `json:"query" validate:"required"`
		Filters map[string]string `json:"filters,omitempty" validate:"dive,keys,alpha,endkeys,max=40"`
		Sort    []struct {
			Field string `json:"field" validate:"required"`
			Desc  bool   `json:"desc"`
		} `json:"sort,omitempty"`
		Page int  `json:"page" validate:"gte=1"`
		Size *int `json:"size" validate:"omitempty,lte=100"`
	}
	Audit struct {
		ID      string    `json:"id" validate:"uuid4"`
		By      string    `json:"by" validate:"required"`
		Created time.Time `json:"created"`
	}
	contact struct {
		Audit
		Name   string   `json:"name" validate:"required"`
		Phones []string `json:"phones" validate:"dive,e164"`
		Home   *place   `json:"home"`
		Tags   []string `json:"tags,omitempty"`
		Site   string   `json:"site,omitempty" validate:"omitempty,url"`
	}
	step struct {
		ID    string          `json:"id" validate:"required"`
		Tool  string          `json:"tool" validate:"required"`
		Args  json.RawMessage `json:"args"`
		After []string        `json:"after,omitempty"`
	}
	plan struct {
		Goal  string `json:"goal" validate:"required"`
		Steps []step `json:"steps" validate:"min=1,max=20"`
	}
	event struct {
		Title    string    `json:"title" validate:"required"`
		Start    time.Time `json:"start"`
		End      time.Time `json:"end" validate:"gtfield=Start"`
		Guests   []string  `json:"guests" validate:"dive,email"`
		Online   bool      `json:"online"`
		Location string    `json:"location" validate:"required_if=Online false"`
	}
	entity struct {
		Text  string  `json:"text" validate:"required"`
		Kind  string  `json:"kind" validate:"oneof=person place company date"`
		Score float64 `json:"score" validate:"gte=0,lte=1"`
		Start int     `json:"start" validate:"gte=0"`
	}
	article struct {
		Title    string   `json:"title"`
		Summary  string   `json:"summary" jsonschema:"minLength=1,maxLength=4000"`
		Language string   `json:"language" validate:"bcp47_language_tag"`
		Entities []entity `json:"entities"`
		Topics   []string `json:"topics" validate:"max=10"`
	}
	product struct {
		SKU      string            `json:"sku" validate:"required,uppercase"`
		Name     string            `json:"name" validate:"required"`
		Price    float64           `json:"price" validate:"gt=0"`
		Stock    uint32            `json:"stock"`
		Size     [3]float64        `json:"size"`
		Images   []string          `json:"images" validate:"dive,http_url"`
		Features map[string]string `json:"features"`
		Variants []struct {
			Color string  `json:"color" validate:"hexcolor"`
			Extra float64 `json:"extra"`
		} `json:"variants,omitempty"`
	}
	comment struct {
		Author  string    `json:"author" validate:"required"`
		Text    string    `json:"text" validate:"required"`
		Likes   int       `json:"likes" validate:"gte=0"`
		Replies []comment `json:"replies,omitempty"`
	}
	host struct {
		Address netip.Addr `json:"address"`
		Port    uint16     `json:"port" validate:"required"`
		Weight  *float32   `json:"weight"`
		Timeout string     `json:"timeout" validate:"duration"`
	}
	service struct {
		Name  string          `json:"name" validate:"hostname_rfc1123"`
		Hosts map[string]host `json:"hosts" validate:"required"`
		Debug bool            `json:"debug,omitempty"`
	}
	track struct {
		Name   string       `json:"name"`
		Points [][2]float64 `json:"points" validate:"min=2"`
		Times  []int64      `json:"times"`
	}
	minutes struct {
		Date    string `json:"date" validate:"datetime=2006-01-02"`
		Present []string
		Items   []struct {
			What string `json:"what" validate:"required"`
			Who  string `json:"who" validate:"required"`
			Due  string `json:"due,omitempty" validate:"omitempty,datetime=2006-01-02"`
			Done bool   `json:"done"`
		} `json:"items"`
	}
	grading struct {
		Student string             `json:"student" validate:"required"`
		Scores  map[string]float64 `json:"scores" validate:"dive,gte=0,lte=10"`
		Passed  bool               `json:"passed"`
		Reasons []string           `json:"reasons" validate:"required,dive,required"`
	}
	Level     string
	logFilter struct {
		Level   Level          `json:"level"`
		Since   *time.Time     `json:"since"`
		Match   string         `json:"match,omitempty" validate:"omitempty,max=200"`
		Labels  map[string]any `json:"labels,omitempty"`
		Sources []netip.Prefix `json:"sources,omitempty"`
	}
)

func (l *Level) UnmarshalText(text []byte) error {
	if *l = Level(text); *l != "debug" && *l != "info" && *l != "error" {
		return errors.New("no level")
	}
	return nil
}

// ordinaryContests has a good document of each type and, after it, a bad one, which is the same with texts
// replaced.
func ordinaryContests(t testing.TB) []contest {
	many := func(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	const home = `{"street":"Rua do Século 12","city":"Lisboa","zip":"12005","country":"PT"}`
	const reply = `{"author":"bo","text":"I do not think so.","likes":0}`
	return slices.Concat(
		goodAndBad[booking](t, "booking", `{"hotel":"Estrela","guest":"Ada Lovelace","email":"ada@example.com","from":"2026-05-01","nights":3,"room":"double","notes":null}`,
			`"nights":3`, `"nights":"three"`, `"double"`, `"twin"`),
		goodAndBad[invoice](t, "invoice", `{"number":"2026-0117","customer":{"name":"Ada","address":`+home+`},"lines":[`+
			many(8, `{"sku":"AB12","count":2,"price":19.95}`)+`],"currency":"EUR","issued":"2026-02-03T10:00:00Z","paid":false}`,
			`"12005"`, `"1200-5"`, `"EUR"`, `"euro"`, `"paid":false`, `"paid":"no"`),
		goodAndBad[incident](t, "incident", `{
  "severity": "high",
  "title": "Checkout fails for one in ten",
  "summary": "Since the deployment of 10:02 one in ten calls of the payment service times out. The queue grows, but no payment is lost.",
  "services": ["checkout", "payment"],
  "owner": "oncall@example.com",
  "links": ["https://example.com/runbook", "https://status.example.com/1"],
  "started": "2026-02-03T10:02:00Z"
}`, `"high"`, `"urgent"`, `oncall@example.com`, `oncall`),
		goodAndBad[search](t, "search", `{"query":"red shoes","filters":{"brand":"Acme","size":"42"},"sort":[{"field":"price","desc":true}],"page":1,"size":20}`,
			`"page":1`, `"page":0`, `"desc":true`, `"order":"desc"`),
		goodAndBad[contact](t, "contact", `{"id":"8c7e5a9e-3c0b-4d5f-9a51-6b8f1a2d3c4e","by":"crm","created":"2026-01-01T00:00:00Z","name":"Ada","phones":["+351912345678","+14155552671"],"home":`+home+`,"tags":["vip"],"site":"https://ada.example.com"}`,
			`8c7e5a9e-`, ``, `"+14155552671"`, `"415 5552671"`),
		goodAndBad[plan](t, "plan", `{"goal":"Book the cheapest flight","steps":[`+
			many(6, `{"id":"s1","tool":"search_flights","args":{"from":"LIS","to":"BER","date":"2026-05-01","passengers":[{"age":34},{"age":5}]},"after":["s0"]}`)+`]}`,
			`"goal":"Book the cheapest flight"`, `"aim":"Book the cheapest flight"`, `"after":["s0"]`, `"after":"s0"`),
		goodAndBad[event](t, "event", `{"title":"Review","start":"2026-05-01T10:00:00+01:00","end":"2026-05-01T11:00:00+01:00","guests":["ada@example.com","bo@example.com","cy@example.com"],"online":false,"location":"Room 4"}`,
			`T11:00`, `T09:00`, `bo@example.com`, `bo`),
		goodAndBad[article](t, "article", `{"title":"The sea","summary":"`+strings.Repeat(`It is said that \"the sea\" is blue, and it is not. `, 20)+`","language":"en-GB","entities":[`+
			many(25, `{"text":"Lisbon","kind":"place","score":0.93,"start":118}`)+`],"topics":["sea","colour"]}`,
			`"en-GB"`, `"English!"`, `"topics":["sea","colour"]`, `"topics":"sea"`),
		goodAndBad[product](t, "product", `{"sku":"LAMP-7","name":"Lamp","price":49.9,"stock":12,"size":[10.5,20,33.25],"images":["https://example.com/1.png","https://example.com/2.png"],"features":{"power":"9 W","colour":"2700 K","socket":"E27"},"variants":[{"color":"#ff8800","extra":0},{"color":"#000","extra":2.5}]}`,
			`49.9`, `-1`, `"#ff8800"`, `"orange"`, `"stock":12`, `"stock":12.5`),
		goodAndBad[comment](t, "comment", `{"author":"ada","text":"Is it so?","likes":3,"replies":[`+
			many(5, `{"author":"cy","text":"It is.\nLook here: é, 😀.","likes":1,"replies":[`+reply+`,`+reply+`]}`)+`]}`,
			`"likes":3`, `"likes":-3`, `"author":"ada",`, ``),
		goodAndBad[service](t, "service", `{"name":"api","hosts":{`+
			`"a":{"address":"10.0.0.1","port":8080,"weight":0.5,"timeout":"1m30s"},"b":{"address":"10.0.0.2","port":8080,"weight":null,"timeout":"2s"},"c":{"address":"::1","port":443,"timeout":"250ms"}}}`,
			`10.0.0.2`, `10.0.0`, `"250ms"`, `"quick"`),
		goodAndBad[track](t, "track", `{"name":"morning","points":[`+many(120, `[38.722252,-9.139337]`)+`],"times":[`+many(120, `1767225600`)+`]}`,
			`[[38.722252,-9.139337]`, `[[38.722252]`, `[1767225600,`, `["1767225600",`),
		goodAndBad[minutes](t, "minutes", `{"date":"2026-03-01","Present":["ada","bo","cy"],"items":[`+
			many(20, `{"what":"Send the draft of the contract to the lawyers, with the changes that were agreed on last week.","who":"ada","due":"2026-03-08","done":false}`)+`]}`,
			`"date":"2026-03-01"`, `"date":"March 1st"`, `"Present"`, `"present"`),
		goodAndBad[grading](t, "grading", `{"student":"Ada","scores":{"clarity":8.5,"depth":9,"style":7,"sources":10},"passed":true,"reasons":["Clear.","All sources are named."]}`,
			`"depth":9`, `"depth":11`, `"Clear."`, `""`),
		goodAndBad[logFilter](t, "filter", `{"level":"error","since":"2026-03-01T00:00:00Z","match":"timeout","labels":{"app":"api","zone":["a","b"]},"sources":["10.0.0.0/8"]}`,
			`"error"`, `"fatal"`, `"timeout"`, `5`),
		goodAndBad[struct {
			All []entity `json:"all" validate:"dive"`
		}](t, "entities", `{"all":[`+many(300, `{"text":"Lisbon","kind":"place","score":0.93,"start":118}`)+`]}`,
			`[{"text":"Lisbon","kind":"place"`, `[{"text":"","kind":"town"`),
	)
}

// goodAndBad makes two contests of a good document: with it, and with texts of it replaced.
func goodAndBad[T any](t testing.TB, name, good string, faults ...string) []contest {
	bad := good
	for two := range slices.Chunk(faults, 2) {
		require.Contains(t, bad, two[0])
		bad = strings.Replace(bad, two[0], two[1], 1)
	}
	all := contestsOf[T](t, name, good, bad)
	require.Equal(t, []bool{true, false}, []bool{all[0].good, all[1].good}, name)
	return all
}
