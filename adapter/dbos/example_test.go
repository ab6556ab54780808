package dbos_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"

	"github.com/retake-go/retake/adapter/dbos"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// The address of a PostgreSQL database takes the place of the file in production.
func Example() {
	err := func() error {
		dir, err := os.MkdirTemp("", "bookings")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		ctx, err := sdk.NewContext(context.Background(), sdk.Config{
			AppName:     "bookings",
			DatabaseURL: "sqlite:" + filepath.Join(dir, "dbos.db"),
			Logger:      slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		defer sdk.Shutdown(ctx, 10*time.Second)

		book := tool.New("book", "Books a room.", func(_ context.Context, in struct {
			Nights int `json:"nights"`
		}) (string, error) {
			return fmt.Sprintf("booked %d nights", in.Nights), nil
		})
		tools, err := tool.NewSet(book)
		if err != nil {
			return err
		}
		agent, err := dbos.Register(ctx, dbos.Agent{Model: clerk{}, Config: loop.Config{Tools: tools}})
		if err != nil {
			return err
		}
		if err := sdk.Launch(ctx); err != nil { // takes up the runs of a process that died
			return err
		}
		run, err := agent.Start(ctx, "order-42", loop.Input{Prompt: "Two nights in Lisbon, please."})
		if err != nil {
			return err
		}
		result, err := run.Result()
		if err != nil {
			return err
		}
		fmt.Println(result.Text)
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output: Two nights are booked.
}

// clerk stands for a model. Its first call of the tool is wrong.
type clerk struct{}

func (clerk) Reply(_ context.Context, r loop.Request) (message.Reply, error) {
	arguments := `{"nights": "two"}`
	switch r.Messages[len(r.Messages)-1].Role {
	case message.Tool:
		if !r.Messages[len(r.Messages)-1].IsError {
			return message.Reply{Text: "Two nights are booked."}, nil
		}
		arguments = `{"nights": 2}`
	}
	return message.Reply{Calls: []message.Call{{ID: fmt.Sprint("call-", len(r.Messages)), Name: "book",
		Arguments: arguments}}}, nil
}
