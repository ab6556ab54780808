package work

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The checks by hand are correct: they accept what encoding/json accepts, and refuse what is wrong.
func TestByHand(t *testing.T) {
	var want Order
	if err := json.Unmarshal(GoodOrder(), &want); err != nil {
		t.Fatal(err)
	}
	if err := Validator().Struct(want); err != nil {
		t.Fatal(err)
	}
	if got, faults := OrderByHand(string(GoodOrder())); faults != nil || !reflect.DeepEqual(got, want) {
		t.Fatal(got, faults)
	}
	if _, faults := OrderByHand(string(BadOrder())); len(faults) != 3 {
		t.Fatal(faults)
	}
	if b, faults := BookingByHand(Small().Good); faults != nil || b != (Booking{"Lisbon", 2, "double"}) {
		t.Fatal(b, faults)
	}
	if _, faults := BookingByHand(Small().Bad); len(faults) != 2 {
		t.Fatal(faults)
	}
	good := string(GoodOrder())
	for _, bad := range []string{
		"", "{", good[:len(good)-1], good + "x", strings.Replace(good, `"id":`, `"di":`, 1), strings.Replace(good, `"total"`, `"id":"x","total"`, 1),
		strings.Replace(good, "jo.doe@", "jo.doe", 1), strings.Replace(good, "A1B2C3", "A1-B2", 1), strings.Replace(good, `"count":2`, `"count":0`, 1),
		strings.Replace(good, `"labels":{`, `"labels":{"source":"x",`, 1), strings.Replace(good, "19.95", "-1", 1), strings.Replace(good, "11000", `11\u00"0`, 1),
	} {
		if _, faults := OrderByHand(bad); len(faults) == 0 {
			t.Error(bad)
		}
	}
}
