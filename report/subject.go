package report

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Subject is what the report is of, in words: a backup, or a management cluster that runs.
func (r *Report) Subject() string { return subject(r.IsLive()) }

func subject(live bool) string {
	if live {
		return "management cluster"
	}
	return "backup"
}

// phrase is what sentences say of a backup, and what they say of a management cluster that runs.
type phrase struct {
	of *regexp.Regexp
	is string
}

// spokenOfChecks are those of checks, of which some go with a backup that was taken: an object
// that was filtered out may be in another one, an object that is not there is in none.
var spokenOfChecks = []phrase{
	{regexp.MustCompile(`take a newer backup without that filter, or an older one that holds it; else create`), "find out why it is gone, or create it again, from your sources or an older backup; else create"},
	{regexp.MustCompile(`if the old management cluster still answers, back up once more with --include-cluster-resources=true; else find`), "find"},
	{regexp.MustCompile(`find out whether the Cluster was being deleted when the backup was taken, since Velero leaves such a Cluster out and it is not to be created again; else take a backup that holds [^,]*, or create`), "find out who deleted the Cluster, and whether its objects are to go, too; else create"},
	{regexp.MustCompile(`filtered out, or being deleted when the backup was taken: Velero leaves such objects out`), "deleted, or never made"},
	{regexp.MustCompile(`: being deleted when the backup was taken, or filtered out`), ": nobody deletes it, and its VM"},
	{regexp.MustCompile(`was being provisioned when the backup was taken`), "is being provisioned"},
	{regexp.MustCompile(` when the backup was taken`), " now"},
	{regexp.MustCompile(`\btake a backup that holds\b`), "take backups that hold"},
	{regexp.MustCompile(`\btake the backup again:`), "take backups then:"},
	{regexp.MustCompile(`before the next backup`), "before backups are taken"},
	{regexp.MustCompile(`from another backup`), "from an older backup"},
	{regexp.MustCompile(`in another backup`), "in an older backup"},
	{regexp.MustCompile(`; take another backup if they matter`), ""},
	{regexp.MustCompile(`convert the backup by upgrading the source before it`), "upgrade this one before backups are taken"},
}

// spoken are those of all.
var spoken = []phrase{
	{regexp.MustCompile(` is in the backup without its Machine: it was being deleted, or was left out`), " is left without its Machine: nobody deletes it, and its VM"},
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
// find something, in providers and in the detector, speak of the backup. Of kinds that are unread,
// resources as they are named in a backup, nothing is said to be absent.
func (r *Report) SpeakOfCluster(unread []string) {
	speak(reflect.ValueOf(r).Elem(), false, func(text string) string { return Unread(unread, OfCluster(text)) })
}

// absent are what sentences say of an object that is not there.
var absent = regexp.MustCompile(`\b(?:is|are) (?:absent from|not in) the management cluster\b`)

// holdsNone is what they say of what should hold it.
var holdsNone = regexp.MustCompile(`\b[Tt]he management cluster (?:holds no|lacks(?: the)?) (([A-Z][A-Za-z]+)(?: [^\s,;:]+)?)( with a kubeconfig)?`)

// kind is a word that may be the kind of an object.
var kind = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// Unread is a sentence of a management cluster that runs, which says of no object of an unread
// kind that it is not there.
func Unread(unread []string, text string) string {
	if len(unread) == 0 || !strings.Contains(text, "management cluster") {
		return text
	}
	isUnread := func(kind string) bool {
		return slices.ContainsFunc(unread, func(id string) bool {
			resource, _, _ := strings.Cut(id, ".")
			one := strings.ToLower(kind) // as they are named regularly, see archive.ResourceOf
			return resource == one+"s" || resource == one+"es" || resource == strings.TrimSuffix(one, "y")+"ies"
		})
	}
	text = holdsNone.ReplaceAllStringFunc(text, func(found string) string {
		if parts := holdsNone.FindStringSubmatch(found); isUnread(parts[2]) {
			return parts[1] + " could not be read"
		}
		return found
	})
	var out strings.Builder
	for {
		at := absent.FindStringIndex(text)
		if at == nil {
			return out.String() + text
		}
		clause := text[:at[0]] // what is absent is behind the last mark before
		clause = clause[strings.LastIndexAny(clause, ";,(")+1:]
		if i := strings.LastIndex(clause, ": "); i >= 0 {
			clause = clause[i:]
		}
		says := text[at[0]:at[1]]
		if slices.ContainsFunc(kind.FindAllString(clause, -1), isUnread) {
			says = "could not be read"
		}
		out.WriteString(text[:at[0]] + says)
		text = text[at[1]:]
	}
}

func speak(v reflect.Value, sentence bool, of func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			speak(v.Elem(), sentence, of)
		}
	case reflect.Slice:
		for i := range v.Len() {
			speak(v.Index(i), sentence, of)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				speak(v.Field(i), slices.Contains(sentences, f.Name), of)
			}
		}
	case reflect.String:
		if sentence {
			v.SetString(of(v.String()))
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
