package console

import (
	"net/http"

	"github.com/retake-go/retake/report/internal/look"
)

// schemeCookie remembers whether the pages are light or dark.
const schemeCookie = "retake-scheme"

// schemeOf returns "light" or "dark"; empty for what the browser prefers.
func schemeOf(r *http.Request) string {
	cookie, err := r.Cookie(schemeCookie)
	if err != nil || cookie.Value != "light" && cookie.Value != "dark" {
		return ""
	}
	return cookie.Value
}

// css writes the style sheet, in the colours that were chosen.
func (c *Console) css(w http.ResponseWriter, r *http.Request) {
	text := look.CSS + styles
	if scheme := schemeOf(r); scheme != "" {
		text += "@media screen { html { color-scheme: " + scheme + "; } }\n" // paper is white
	}
	write(w, "text/css", text)
}

// scheme remembers the colours that were chosen, and leads to the list.
func (c *Console) scheme(w http.ResponseWriter, r *http.Request) {
	in, ok := c.posted(w, r, "The colours cannot be read")
	if !ok {
		return
	}
	c.keep(w, r, schemeCookie, in.Get("to"))
	lead(w, "./")
}
