package oracle

import (
	"bytes"
	"crypto/x509"
	"errors"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/cluster-api/util/certs"
)

// authority is what a server of the workload cluster trusts, and is of itself.
type authority struct{ cert *x509.Certificate }

// authorityOf returns the one in a Secret of the world as it is before anything is damaged.
func (w *World) authorityOf(suffix string) *authority {
	s := w.get("Secret", w.Cluster.Name+suffix)
	if s == nil {
		panic("the lab has no Secret " + w.Cluster.Name + suffix)
	}
	cert, err := certs.DecodeCertPEM(secretValue(s, "tls.crt"))
	if err != nil {
		panic(err)
	}
	return &authority{cert}
}

// signed returns why a server refuses a client certificate, nil where it does not.
func (a *authority) signed(der []byte) error {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	if now := time.Now(); now.After(cert.NotAfter) {
		return errors.New("it has expired")
	}
	return cert.CheckSignatureFrom(a.cert)
}

// admit returns why nobody gets into the workload cluster with a kubeconfig, nil where one does.
func (wl *workload) admit(value []byte) error {
	err, known := wl.admits[string(value)]
	if !known {
		err = wl.try(value)
		wl.admits[string(value)] = err
	}
	return err
}

func (wl *workload) try(value []byte) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(value)
	if err != nil {
		return err
	}
	shown, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	if shown == nil || len(config.CertData) == 0 {
		return errors.New("it shows no client certificate")
	}
	if !config.Insecure && !bytes.Contains(config.CAData, certs.EncodeCertPEM(wl.api.cert)) {
		return errors.New("it trusts another authority")
	}
	cert, err := shown.GetClientCertificate(nil)
	if err != nil {
		return err
	}
	return wl.api.signed(cert.Certificate[0])
}
