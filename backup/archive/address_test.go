package archive

import (
	"slices"
	"strings"
	"testing"
)

// An address is known for one however it is mistyped; what is no address stays whole.
func TestAddressSecrets(t *testing.T) {
	const secret = "S3CRET/+x=="
	for _, address := range []string{
		"https:/HOST/b?X-Amz-Signature=", "https:HOST/b?sig=", "//HOST/b?sig=", "s3:/velero/b?sig=", " https://HOST/b?sig=", `"https://HOST/b?sig=`,
		"htps://HOST/b?sig=", "HTTPS:/HOST/b?SIG=", "HOST/b?sig=", "HOST/b#access_token=", "https://HOST/b#", "https//HOST/b?x=", "'//HOST/b?sig=", "\thttps:\\\\HOST/b?sig=",
		"https://HOST:9000/b@c?sig=", "FROM:443=https:/HOST/?sig=", "https:///b?sig=", "https://HOST/b?X-Amz-Credential=k@x&sig=",
	} {
		if got := WithoutSecrets(address + secret); strings.Contains(got, "S3CRET") || !strings.Contains(got, strings.TrimLeft(address[:5], " \"\t")[:3]) {
			t.Errorf("%s: %s", address, got)
		}
	}
	for _, address := range []string{
		"https://u:S3CRET@HOST/b", "https:/u:S3CRET@HOST", "https:u:S3CRET@HOST", "//u:S3CRET@HOST", "u:S3CRET@HOST", "https://S3CRET@HOST/b",
		"HTTPS://u:S3CRET@HOST", " https://u:S3CRET/x@HOST", "https://u:S3CRET?x@HOST", "https://u:a@S3CRET@HOST", "vc=https://u:S3CRET@HOST",
		"https//u:S3CRET@HOST", "htps:/u:S3CRET@HOST",
	} {
		if got := WithoutSecrets(address); strings.Contains(got, "S3CRET") || !strings.Contains(got, "…") {
			t.Errorf("%s: %s", address, got)
		}
	}
	for address, want := range map[string][]string{
		"https://HOST/b?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDMARK%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=900&X-Amz-Security-Token=T0ken%2B&X-Amz-SignedHeaders=host&X-Amz-Signature=S1gn&x-id=GetObject": {"AKIDMARK", "AKIDMARK", "T0ken%2B", "T0ken+", "S1gn", "S1gn"},
		"https://HOST/b?sv=2024-11-04&se=2026-01-01&sr=b&sp=r&sig=S1gn%3D":  {"S1gn%3D", "S1gn="},
		"https://HOST/b?GoogleAccessId=me@project&Expires=1&Signature=S1gn": {"me@project", "me@project", "S1gn", "S1gn"},
		"https://HOST/b?X-Amz-Signature=S1gn&other=1":                       {"X-Amz-Signature=S1gn&other=1"},
		"https://HOST/b?X-Amz-Expires=900":                                  {"X-Amz-Expires=900"},
		"http://gate:9091/metrics/job/a@base64/Zm9v":                        nil,
		"http://gate:9091/metrics/job@base64/Zm9v/instance@base64/Zm9v":     nil,
		"http://u:S3CRET@gate:9091/metrics/job@base64/Zm9v":                 {"S3CRET", "S3CRET"},
	} {
		if got := AddressSecrets(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q", address, got)
		}
		if got := WithoutSecrets(address); strings.Contains(got, "S1gn") || strings.Contains(got, "S3CRET") || strings.Contains(got, "?X") && !strings.HasSuffix(got, "?…") {
			t.Errorf("%s: %s", address, got)
		}
	}
	for _, name := range []string{
		"", "mgmt-data.tar.gz", "s3://velero/mgmt/backups/b", "/tmp/a@b/c:d", "C:\\x", "backup-?.tar.gz", "a#1.json", "tenant/cluster", "vc.example:443=127.0.0.1:1", "https://host:1/a",
		"s3://velero/b@x", "-", "user@host",
	} {
		if got := WithoutSecrets(name); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
}
