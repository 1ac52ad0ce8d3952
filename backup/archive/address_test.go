package archive

import (
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
	for _, name := range []string{
		"", "mgmt-data.tar.gz", "s3://velero/mgmt/backups/b", "/tmp/a@b/c:d", "C:\\x", "backup-?.tar.gz", "a#1.json", "tenant/cluster", "vc.example:443=127.0.0.1:1", "https://host:1/a",
		"s3://velero/b@x", "-", "user@host",
	} {
		if got := WithoutSecrets(name); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
}
