package list

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// An offset may push a date that parses out of the years that JSON has: an instance with it
// could be neither packed nor saved.
func TestCreatedCanBeSaved(t *testing.T) {
	for _, text := range []string{"9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "2026-11-20T03:00:00Z"} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		got := created(&types.Instance{LaunchTime: aws.Time(at)})
		if _, err := json.Marshal(got); err != nil || got.IsZero() != (text[0] != '2') {
			t.Errorf("%s becomes %s: %v", text, got, err)
		}
	}
}
