package english

import "testing"

func TestEnglish(t *testing.T) {
	for got, want := range map[string]string{
		Count(0, "VM"): "0 VMs", Count(1, "VM"): "1 VM", Count(2, "VM"): "2 VMs",
		Join(", ", "", "a", "", "b"): "a, b", Join(", "): "",
		First(2, []string{"a", "b"}): "a, b", First(2, []string{"a", "b", "c", "d"}): "a, b and 2 more",
		Choice(nil): "", Choice([]string{"x"}): "x", Choice([]string{"x", "y", "z"}): "x, y or z",
		Sentence("Done"): "Done.", Sentence("Done."): "Done.",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Sentence("") != "" {
		t.Error("a full stop after nothing")
	}
}
