package report

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Subject is what the report is of, in words: a backup, or a management cluster that runs.
func (r *Report) Subject() string {
	if r.IsLive() {
		return "management cluster"
	}
	return "backup"
}

// spoken are what sentences say of a backup, and what they say of a management cluster that runs.
var spoken = []struct {
	of *regexp.Regexp
	is string
}{
	{regexp.MustCompile(`(?i)\b(when|before|after|since) the backup (?:was|is) (?:written|taken)\b`), "$1 it was read"},
	{regexp.MustCompile(`\b(since|after|before) (the|this) backup\b`), "$1 it was read"},
	{regexp.MustCompile(`\b([Ff]or|[Aa]nother) another backup\b`), "$1 another management cluster"},
	{regexp.MustCompile(`\b([Tt]he|[Tt]his|[Aa]nother|same|[Aa]|of) backup('s|\b)`), "$1 management cluster$2"},
	{regexp.MustCompile(`\bBackup file\b`), "Management cluster"},
	{regexp.MustCompile(`\bmissing from the management cluster only\b`), "without one for now only"},
}

// sentences are the fields that hold what was said of it; others hold names.
var sentences = []string{"Message", "Detail", "Why", "Hint", "Do", "Brief", "Note", "Error"}

// SpeakOfCluster has all that is said in a report be of a management cluster that runs: those who
// find something, in providers and in the detector, speak of the backup.
func (r *Report) SpeakOfCluster() { speak(reflect.ValueOf(r).Elem(), false) }

func speak(v reflect.Value, sentence bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			speak(v.Elem(), sentence)
		}
	case reflect.Slice:
		for i := range v.Len() {
			speak(v.Index(i), sentence)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				speak(v.Field(i), slices.Contains(sentences, f.Name))
			}
		}
	case reflect.String:
		if sentence {
			v.SetString(OfCluster(v.String()))
		}
	}
}

// OfCluster is a sentence about a backup, said of a management cluster that runs.
func OfCluster(text string) string {
	if !strings.Contains(text, "backup") {
		return text
	}
	for _, s := range spoken {
		text = s.of.ReplaceAllString(text, s.is)
	}
	return text
}
