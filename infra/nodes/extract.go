package nodes

import (
	"errors"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/shell"
)

// Extract returns a kubeconfig with what is followed of that in the backup: kubectl would run,
// open or trust whatever else it names. Its context is NAMESPACE/NAME of the cluster, which no
// other cluster has.
func (p *provider) Extract(t infra.Target, path func(name string) string) (infra.Extract, error) {
	l, ok := t.Credential.(*login)
	if !ok || l.operators || len(t.Clusters) == 0 {
		return infra.Extract{}, errors.New("it has no kubeconfig of the backup")
	}
	id := t.Clusters[0]
	name := id.Namespace + "/" + id.Name
	conf := clientcmdapi.NewConfig()
	conf.Clusters[name] = &clientcmdapi.Cluster{
		Server: "https://" + l.endpoint.String() + l.path, TLSServerName: l.of.cluster.TLSServerName,
		CertificateAuthorityData: l.of.cluster.CertificateAuthorityData,
	}
	conf.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token: l.token.Reveal(), ClientCertificateData: l.of.user.ClientCertificateData, ClientKeyData: l.of.user.ClientKeyData,
	}
	conf.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	conf.CurrentContext = name
	file := clientcmdv1.Config{APIVersion: clientcmdv1.SchemeGroupVersion.Version, Kind: "Config"}
	if err := clientcmdv1.Convert_api_Config_To_v1_Config(conf, &file, nil); err != nil {
		return infra.Extract{}, errors.New("it cannot be written as a kubeconfig")
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		return infra.Extract{}, errors.New("it cannot be written as a kubeconfig")
	}
	base := id.Namespace + "." + id.Name + ".kubeconfig"
	word, _ := shell.Quote(path(base))
	out := infra.Extract{Files: []infra.LoginFile{{Name: base, Text: backup.NewSensitive(string(text))}}, Use: "kubectl --kubeconfig " + word + " get nodes"}
	for _, i := range l.ignored {
		out.Lacks = append(out.Lacks, i+" is left out")
	}
	return out, nil
}
