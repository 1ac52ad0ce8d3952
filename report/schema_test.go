package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fields pins the document: within schema 1 this list may grow, and nothing in
// it may be renamed or removed. A trailing ? marks what may be absent.
var fields = map[string]string{
	"report":         "schemaVersion tool generatedAt options backups summary toDo? clusters infraMachines scopes checks errors providers? ignoreRules? confirmations? variables? digests?",
	"tool":           "name version commit",
	"options":        "ignoreHealthy skipNodes filter? failOn? confirmations?",
	"backup":         "path sha256 formatVersion writtenFrom writtenTo items kubeSystemUID? live? restoreMode? missing installed? velero?",
	"described":      "name started ended? items?",
	"installed":      "type name version",
	"missing":        "kind namespace name referredBy why",
	"summary":        "status complete answer? answerByPlan? clusters machines infraMachines excluded outOfScope resources foreignTags? ignored ignoredMachines? ignoredInfraMachines? confirmedInfraMachines? statusWithoutRules? errors forecast?",
	"safeAnswer":     "safe reasons conditions",
	"planAnswer":     "safe reasons resolved",
	"answerReason":   "code message objects until? row?",
	"toDo":           "phase safe code reason? message objects steps decide? resolved?",
	"clusterCounts":  "total Healthy ManualRemediationNotRequired ManualRemediationRequired NeedFurtherConfirmation",
	"machineCounts":  "total Healthy Stale Ghost Unknown",
	"resourceCounts": "present absent unknown",
	"cluster":        "namespace name backup provider status derived self paused endpoint apiLoadBalancers? counts nodes controlPlane workers resources forecast? confirmed?",
	"loadBalancer":   "type? name? arn?",
	"nodes":          "state count error?",
	"controlPlane":   "kind name status reason? applicable desired? counts machines forecast?",
	"workers":        "status groups",
	"group":          "kind name status reason? desired? topology? pool? counts machines forecast?",
	"pool":           "state then now missing added desired? desiredNow? managedBy? message?",
	"resource":       "kind name state usedBy whenGone? message? several?",
	"machine":        "namespace name uid? role status reason? message? providerID? node? infrastructure? instance otherInstances? moreInstances? evidence warnings? ignored? confirmed? deleting? forecast? remediation?",
	"objectName":     "kind namespace name",
	"evidence":       "kind detail strength",
	"variable":       "name meaning",
	"warning":        "reason message",
	"size":           "vcpus? memoryMiB? diskGiB? type?",
	"instance":       "provider scope account? id ref name path state created? size? addresses? tags?",
	"infraMachine":   "instance cluster candidates? foreignCluster? reason message? evidence ignored? confirmed? remediation?",
	"scope":          "provider endpoint location account identity? listedAt? state instances error? clusters?",
	"provider":       "name title noun separateAccounts controller powersOn onDelete? clustersFirst? refusedAtFirst? ownsKubeconfig? machineKinds clusterKind? managedPlanes? identityKinds? remedies?",
	"kind":           "kind resource",
	"filter":         "clusters? namespaces? selector? statuses? view?",
	"ignored":        "rule reason",
	"confirmed":      "as by on expires?",
	"confirmation":   "subject id? ids? as by on expires? state message?",
	"ignoreRule":     "file line reason? expires? include? state matched",
	"fault":          "reason message hint?",
	"check":          "severity code backup object message brief? why do clusters? ignored?",
	"error":          "scope? object? message hint?",

	"generalForecast":      "outcomes notHealing notes",
	"clusterForecast":      "text outcomes notHealing notes",
	"note":                 "code message objects?",
	"step":                 "when who text commands",
	"machineForecast":      "outcome byPlan? condition? message rolledOut? row? expectedBy?",
	"expectedBy":           "event seconds",
	"controlPlaneForecast": "replicas etcd? remediates why? rollout?",
	"groupForecast":        "replicas managedBy? rollout?",
	"replicas":             "recorded working created deleted running unknown surplus missing",
	"etcd":                 "quorum recorded existing removed after message",
	"rollout":              "stale ghosts message",
}

func pinned(def string) []string { return slices.Sorted(slices.Values(strings.Fields(fields[def]))) }

// goFields walks the Go types and notes the fields of each.
func goFields(t reflect.Type, into map[string][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		goFields(t.Elem(), into)
	case reflect.Struct:
		name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
		if t.PkgPath() != reflect.TypeFor[Report]().PkgPath() || into[name] != nil {
			return
		}
		into[name] = []string{}
		for i := range t.NumField() {
			tag, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if strings.HasPrefix(option, "omit") {
				tag += "?"
			}
			into[name] = append(into[name], tag)
			goFields(t.Field(i).Type, into)
		}
		slices.Sort(into[name])
	}
}

func TestFieldsArePinned(t *testing.T) {
	got := map[string][]string{}
	goFields(reflect.TypeFor[Report](), got)
	for def := range fields {
		if !slices.Equal(got[def], pinned(def)) {
			t.Errorf("%s has fields\n%q, want\n%q", def, got[def], pinned(def))
		}
	}
	if len(got) != len(fields) {
		t.Errorf("types %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(fields)))
	}
}

type schemaObject struct {
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
}

type schemaRoot struct {
	schemaObject
	Reasons map[string]string       `json:"x-reasons"`
	Defs    map[string]schemaObject `json:"$defs"`
}

func decodeSchema(t *testing.T) schemaRoot {
	t.Helper()
	var s schemaRoot
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	s.Defs["report"] = s.schemaObject
	return s
}

func TestSchemaHasEveryFieldDescribed(t *testing.T) {
	s := decodeSchema(t)
	for def := range fields {
		o := s.Defs[def]
		var have []string
		for name, raw := range o.Properties {
			var p struct{ Description, Ref string }
			if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte(`"$ref"`), []byte(`"ref"`)), &p); err != nil {
				t.Fatal(err)
			}
			if p.Description == "" && s.Defs[strings.TrimPrefix(p.Ref, "#/$defs/")].Description == "" {
				t.Errorf("%s.%s has no description", def, name)
			}
			if !slices.Contains(o.Required, name) {
				name += "?"
			}
			have = append(have, name)
		}
		slices.Sort(have)
		if !slices.Equal(have, pinned(def)) {
			t.Errorf("schema of %s has\n%q, want\n%q", def, have, pinned(def))
		}
	}
}
