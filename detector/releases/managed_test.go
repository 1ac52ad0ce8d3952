package releases

import (
	"strings"
	"testing"
)

// Only the object's own managedFields are cut out, whatever else has that name.
func TestManagedFields(t *testing.T) {
	c := New(Options{})
	for body, want := range map[string]string{
		`{"metadata":{"name":"a","managedFields":[{"a":"]}\"\\"}],"x":1},"b":2}`:                           `[{"a":"]}\"\\"}]`,
		`{"spec":{"metadata":{"managedFields":[1]}},"metadata" : { "managedFields" : [ [2], "[" ] } }`:     `[ [2], "[" ]`,
		`{"a":{"managedFields":[1]},"metadata":{"annotations":{"managedFields":[3],"b":"managedFields"}}}`: "",
		`{"metadata":{"x":"{\"managedFields\":[1]}","managedFields":null}}`:                                "",
		`{"metadata":{"managedFields":[`: "",
		`{"metadata":{"managedFields`:    "",
		`{"metadata":"managedFields"`:    "",
	} {
		rest, managed := c.cutManaged([]byte(body))
		if string(managed) != want || string(rest) != strings.Replace(body, want, map[bool]string{true: "null"}[want != ""], 1) {
			t.Errorf("%s: %q, and %q is left", body, managed, rest)
		}
	}
}
