package oracle

import (
	"reflect"
	"unsafe"
)

// setUnexported sets a field that Cluster API sets in its own tests only.
func setUnexported(structure any, field string, value any) {
	f := reflect.ValueOf(structure).Elem().FieldByName(field)
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(value).Convert(f.Type()))
}

// setDeep sets an unexported bool of the reconciler in a controller, and reports whether
// it found one. controller-runtime wraps reconcilers several times.
func setDeep(v reflect.Value, field string, depth int) bool {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if depth > 6 || v.Kind() != reflect.Struct || !v.CanAddr() {
		return false
	}
	if f := v.FieldByName(field); f.IsValid() {
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().SetBool(true)
		return true
	}
	for _, name := range []string{"TypedController", "Do", "reconciler"} {
		f := v.FieldByName(name)
		if f.IsValid() && setDeep(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), field, depth+1) {
			return true
		}
	}
	return false
}
