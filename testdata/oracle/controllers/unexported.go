package oracle

import (
	"reflect"
	"unsafe"
)

// unexported returns a field that Cluster API shows to nobody, of what a pointer or interface is of.
func unexported(structure reflect.Value, field string) reflect.Value {
	for structure.Kind() == reflect.Pointer || structure.Kind() == reflect.Interface {
		structure = structure.Elem()
	}
	f := structure.FieldByName(field)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// setUnexported sets a field that Cluster API sets in its own tests only.
func setUnexported(structure any, field string, value any) {
	f := unexported(reflect.ValueOf(structure), field)
	f.Set(reflect.ValueOf(value).Convert(f.Type()))
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
