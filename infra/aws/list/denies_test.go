package list

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/smithy-go"
)

// An instance is absent when EC2 denies it by its name, and by nothing else.
func TestDenied(t *testing.T) {
	const short, long = "i-12345678", "i-123456789abcdef01"
	said := func(code, message string) error { return &smithy.GenericAPIError{Code: code, Message: message} }
	for _, c := range []struct {
		err         error
		short, long bool
	}{
		{said("InvalidInstanceID.NotFound", "The instance ID 'i-12345678' does not exist"), true, false},
		{said("InvalidInstanceID.NotFound", "The instance IDs 'i-12345678, i-123456789abcdef01' do not exist"), true, true},
		{said("InvalidInstanceID.NotFound", "The instance ID 'i-123456789abcdef01' does not exist"), false, true},
		{said("InvalidInstanceID.Malformed", `Invalid id: "i-123456789abcdef01"`), false, true},
		{said("InvalidInstanceID.NotFound", "not found"), false, false},
		{said("UnauthorizedOperation", "no access to i-12345678"), false, false},
		{errors.New("InvalidInstanceID.NotFound i-12345678"), false, false},
	} {
		if a, b := slices.Contains(denied(c.err), short), slices.Contains(denied(c.err), long); a != c.short || b != c.long {
			t.Errorf("%v: %v %v", c.err, a, b)
		}
	}
}
