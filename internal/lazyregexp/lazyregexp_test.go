package lazyregexp

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Each method answers as that of package regexp does.
func TestAnswersAsRegexp(t *testing.T) {
	const form, text = `(a+)(b)?`, "xaab a b aaa"
	lazy, now, b := reflect.ValueOf(New(form)), reflect.ValueOf(regexp.MustCompile(form)), []byte(text)
	arguments := map[string][]any{
		"FindAllString": {text, 2}, "FindAllStringSubmatch": {text, -1}, "FindAllSubmatch": {b, -1}, "FindString": {text}, "FindStringIndex": {text},
		"FindStringSubmatch": {text}, "FindSubmatch": {b}, "FindSubmatchIndex": {b}, "Match": {b}, "MatchString": {text},
		"ReplaceAllString": {text, "<$1>"}, "ReplaceAllFunc": {b, bytes.ToUpper}, "ReplaceAllStringFunc": {text, strings.ToUpper},
	}
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		var in []reflect.Value
		for _, a := range arguments[name] {
			in = append(in, reflect.ValueOf(a))
		}
		if len(in) == 0 {
			t.Fatalf("%s is not tried", name)
		}
		got, want := lazy.Method(i).Call(in)[0].Interface(), now.MethodByName(name).Call(in)[0].Interface()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s returns %q, want %q", name, got, want)
		}
	}
}

// A text that is no regular expression is found by any test of the package that has it.
func TestRefusesInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it is not compiled")
		}
	}()
	New(`(`)
}
