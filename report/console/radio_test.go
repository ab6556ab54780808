package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/tool"
)

// booked are arguments with a boolean that must be there, and two that may be left out.
type booked struct {
	Paid   *bool `json:"paid" validate:"required"`
	Quiet  bool  `json:"quiet,omitempty" jsonschema:"description=away from the street"`
	Smoker bool  `json:"smoker,omitempty"`
}

func book(name string) *tool.Tool {
	return tool.New(name, "Books.", func(context.Context, booked) (string, error) {
		return "", errors.New("the line broke")
	}, always)
}

func TestABooleanIsTwoRadiosAndAThirdIfItMayBeLeftOut(t *testing.T) {
	dir, c, in := asking(t, `{"paid":false,"quiet":true}`, book("pay"))
	assert.Equal(t, []string{"false"}, in["a/paid"])
	assert.Equal(t, []string{"true"}, in["a/quiet"])
	assert.Equal(t, []string{""}, in["a/smoker"])
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.NotContains(t, page, "<select")
	in.Set("verdict", "approve")
	in.Set("a/paid", "true")
	in.Set("a/quiet", "")
	in.Set("a/smoker", "false")
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.JSONEq(t, `{"paid":true,"smoker":false}`, string(said(t, dir).Arguments))
}

func TestRadiosInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	tab := browser.Open(t)
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", `{"paid":false,"quiet":true}`, time.Hour, book("pay")))
	c := open(t, dir, func(s *console.Settings) { s.Clock, s.Hosts, s.Token = standing{}, nil, "" })
	server := httptest.NewServer(c)
	defer server.Close()
	defer tab.Go("about:blank", "true") // its stream ends
	tab.Look(1280, 900, false)
	tab.Go(server.URL+"/inbox", `document.querySelector("form.answer")`)
	groups := `[...document.querySelectorAll("[role=radiogroup]")].map(g => document.getElementById(g.getAttribute("aria-labelledby")).innerText.replace(/\s+/g, " ") + ": " +
		[...g.querySelectorAll("label")].map(l => l.innerText.trim() + (l.control.checked ? "*" : "")).join(", ")).join("; ")`
	assert.Equal(t, "paid: true, false*; quiet may be left out: true*, false, left out; smoker may be left out: true, false, left out*", tab.Text(groups))
	assert.Equal(t, "away from the street", tab.Text(`document.getElementById(document.querySelectorAll("[role=radiogroup]")[1].getAttribute("aria-describedby")).innerText`))
	yes := `document.querySelector("[value=approve]").innerText`
	as := tab.Text(yes)
	tab.Click(`[name="a/quiet"][value=""]`)
	assert.Equal(t, "Send changed: quiet true → left out", tab.Text(yes))
	tab.Click(`[name="a/paid"][value="true"]`)
	assert.Equal(t, "Send changed: paid false → true, quiet true → left out", tab.Text(yes))
	tab.Click(`[name="a/quiet"][value="true"]`)
	tab.Click(`[name="a/paid"][value="false"]`)
	assert.Equal(t, as, tab.Text(yes), "it is as the model asked")
	shoot(t, tab, "radios")
	for _, dark := range []bool{false, true} {
		tab.Look(420, 800, dark)
		tab.Go(server.URL+"/inbox", `document.querySelector("form.answer")`)
		assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= 420"), "it is not wider than a phone")
	}
}

// What must be there and is not has no radio that is checked; the first one is led to.
func TestAMissingBooleanIsLedTo(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	tab := browser.Open(t)
	s := stuck{other: []*tool.Tool{book("book")}}
	c := s.beginsWith(t, message.Call{ID: "c1", Name: "book", Arguments: `{"quiet":true}`})
	server := httptest.NewServer(c)
	defer server.Close()
	defer tab.Go("about:blank", "true") // its stream ends
	tab.Look(1280, 900, false)
	wrong := `[...document.querySelectorAll("[aria-invalid]")].map(f => f.getAttribute("role") + " " + document.getElementById(f.getAttribute("aria-describedby")).innerText).join()`
	tab.Go(server.URL+"/inbox?token="+token, `document.querySelector("form.answer")`)
	tab.Click(`[name="a/quiet"][value="false"]`)
	tab.Click(`[value=correct]`)
	tab.Until(`document.activeElement.name === "a/paid"`)
	assert.Equal(t, "0", tab.Text(`document.querySelectorAll("[name='a/paid']:checked").length`))
	assert.Equal(t, "radiogroup expected boolean", tab.Text(wrong))
	shoot(t, tab, "radios.fault")
	tab.Click(`[name="a/paid"][value="true"]`)
	tab.Click(`[value=correct]`)
	tab.Until(`document.querySelector(".given")`)
	items, err := s.dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Contains(t, string(items[0].Body), `"paid":true`)
}
