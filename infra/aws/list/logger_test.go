package list

import (
	"io"
	"os"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
)

// The SDK has a log of its own, in the words of servers and not escaped: it says nothing
// on stderr, with the backup's key and with the operator's.
func TestTheSDKSaysNothing(t *testing.T) {
	serve(t, lab.EC2Options{}, func(got call) *trouble {
		return &trouble{cut: true}
	})
	// The operator's own chain is the environment's, and asks nobody else.
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": awstest.LabKey, "AWS_SECRET_ACCESS_KEY": awstest.LabSecret, "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	for _, options := range []map[string]string{nil, {awstest.FlagAmbient: "true"}} {
		s, secrets := load(t, awstest.One().Keys().Bytes())
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr := os.Stderr
		os.Stderr = w
		registry := infra.NewRegistry(small(pageSize))
		registry.Collect(t.Context(), registry.Targets(s, secrets, infra.Access{Options: options}), nil)
		os.Stderr = stderr
		w.Close()
		if said, err := io.ReadAll(r); err != nil || len(said) > 0 {
			t.Errorf("%v: %q, %v", options, said, err)
		}
	}
}
