package html

import (
	"reflect"
	"time"

	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// shown returns a copy of a report or a runbook in which every string is as a reader may see
// it. It is made at once, so that no place of the page can forget to. Maps stay
// as they are: two of their keys might become one.
func shown[T any](of *T) *T {
	out := *of
	show(reflect.ValueOf(&out).Elem())
	return &out
}

func show(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(v.String()))
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			return
		}
		for i := range v.NumField() {
			show(v.Field(i))
		}
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			show(list.Index(i))
		}
		v.Set(list)
	case reflect.Pointer:
		if !v.IsNil() {
			target := reflect.New(v.Type().Elem())
			target.Elem().Set(v.Elem())
			show(target.Elem())
			v.Set(target)
		}
	}
}

// text returns a foreign string as a reader may see it. Invalid UTF-8 becomes what
// JSON makes of it, so that a report which was read from JSON prints the same.
func text(s string) string {
	return terminal.Escape(report.Valid(s))
}
