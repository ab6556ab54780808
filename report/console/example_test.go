package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// A console in a server of one's own. Who may see it is up to the server.
func Example() {
	c, err := console.New(console.Settings{Stores: []console.Named{{Store: journal.Dir("runs")}}})
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	c.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/sessions?state=failed", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 application/json; charset=utf-8
}
