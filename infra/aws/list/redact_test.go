package list

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
)

// AWS, or what is before it, may repeat the keys and the session tokens of a call:
// as the code of an error, in its text, on a page. None gets into a fault.
func TestAWSThatRepeatsKeys(t *testing.T) {
	b := awstest.One(awstest.RoleIdentity, "a").Keys().Identity(awstest.RoleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", ""))
	s, secrets := load(t, b.Bytes())
	// The first role that the lab gives.
	const roleSecret, roleToken = "secret-of-session-1", "token-of-session-1"
	known := []string{awstest.LabSecret, awstest.LabToken, awstest.LabKey, roleSecret, roleToken}
	for _, action := range []string{"GetCallerIdentity", "DescribeInstances", "DescribeVpcs"} {
		for n, secret := range known {
			for name, form := range map[string]string{
				"as it is": secret, "percent-encoded": url.QueryEscape(secret), "base64": base64.StdEncoding.EncodeToString([]byte("key=" + secret)),
				"far behind": strings.Repeat("x", 290) + " " + secret,
			} {
				for where, bend := range map[string]bent{
					"code": func([]byte) (int, []byte) {
						return http.StatusBadRequest, []byte("<Response><Errors><Error><Code>" + form + "</Code></Error></Errors></Response>")
					},
					"other services' code": func([]byte) (int, []byte) {
						return http.StatusBadRequest, []byte("<ErrorResponse><Error><Code>" + form + "</Code></Error></ErrorResponse>")
					},
					"page": text("<html>" + form + "</html>"),
				} {
					t.Run(fmt.Sprintf("%s/%d/%s/%s", action, n, name, where), func(t *testing.T) {
						serve(t, lab.EC2Options{Backup: awstest.Save(t, b), Roles: []lab.EC2Role{{ARN: awstest.RoleA}}}, bending(action, bend, false))
						l := listAll(t, small(pageSize), s, secrets, infra.Access{}).Listings[0]
						said := fmt.Sprintf("%+v %q", l.Fault, l.Warnings)
						if l.Fault == nil && len(l.Warnings) == 0 {
							t.Fatal("nothing is said")
						}
						for i := range len(secret) - 8 {
							if strings.Contains(said, secret[i:i+8]) {
								t.Fatalf("%q of it is in %s", secret[i:i+8], said)
							}
						}
					})
				}
			}
		}
	}
}
