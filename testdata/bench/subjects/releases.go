package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// shopped is one object of the lab's release, and what the release's manifest would say to
// have it as it is.
type shopped struct {
	header  tar.Header
	body    []byte
	desired string
}

// A release has so many objects in the backup, copies of the lab's. A drifted one declares
// three copies of the lab's manifest, which are 21 objects.
const (
	liveObjects = 20
	declared    = 3
)

// releaseRecord is what a record needs.
type releaseRecord struct {
	Name     string            `json:"name"`
	Version  int               `json:"version"`
	Info     map[string]string `json:"info"`
	Manifest string            `json:"manifest"`
}

// generateReleases writes a backup of n releases: the lab's over and over, each in a namespace of
// its own. Drifted, the manifest is the lab's; in sync, it is made of the live objects.
func generateReleases(root, folder, number, how string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	objects, manifest, err := readShop(filepath.Join(root, "detector/releases/testdata/shop-drifted-data.tar.gz"))
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "data.tar.gz"))
	if err != nil {
		return err
	}
	defer f.Close()
	buf := bufio.NewWriterSize(f, 1<<20)
	zw := gzip.NewWriter(buf)
	tw := tar.NewWriter(zw)
	if err := writeEntry(tw, objects[0].header, "metadata/version", []byte("1.1.0\n")); err != nil {
		return err
	}
	for i := range n {
		if err := writeRelease(tw, objects, manifest, fmt.Sprintf("shop-%05d", i), how == "drifted"); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close(), buf.Flush())
}

func writeRelease(tw *tar.Writer, objects []shopped, manifest, namespace string, drifted bool) error {
	var text strings.Builder
	for c, live := 0, 0; live < liveObjects; c++ {
		named := strings.NewReplacer("shop-", fmt.Sprintf("n%d-", c), `"namespace":"shop"`, `"namespace":"`+namespace+`"`, `-namespace":"shop"`, `-namespace":"`+namespace+`"`, "namespaces/shop/", "namespaces/"+namespace+"/")
		if drifted && c < declared {
			text.WriteString("---\n" + named.Replace(manifest) + "\n")
		}
		for _, o := range objects[:min(len(objects), liveObjects-live)] {
			if live++; !drifted {
				text.WriteString("---\n" + named.Replace(o.desired) + "\n")
			}
			if err := writeEntry(tw, o.header, named.Replace(o.header.Name), []byte(named.Replace(string(o.body)))); err != nil {
				return err
			}
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	record := releaseRecord{Name: "shop", Version: 1, Info: map[string]string{"status": "deployed"}, Manifest: text.String()}
	if err := errors.Join(json.NewEncoder(z).Encode(record), z.Close()); err != nil {
		return err
	}
	const name = "sh.helm.release.v1.shop.v1"
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]string{"owner": "helm", "name": "shop", "version": "1", "status": "deployed"}},
		"data": map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	})
	if err != nil {
		return err
	}
	return writeEntry(tw, objects[0].header, "resources/secrets/namespaces/"+namespace+"/"+name+".json", body)
}

// readShop reads the objects that the lab's release declares, and its manifest.
func readShop(from string) (objects []shopped, manifest string, err error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, "", err
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return objects, manifest, nil
		}
		if err != nil {
			return nil, "", err
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			return nil, "", err
		}
		switch {
		case strings.Contains(h.Name, "-preferredversion/"):
		case strings.HasSuffix(h.Name, "/sh.helm.release.v1.shop.v2.json"):
			if manifest, err = manifestOf(body); err != nil {
				return nil, "", err
			}
		case bytes.Contains(body, []byte("meta.helm.sh/release-name")) && !strings.Contains(h.Name, "replicasets") && !strings.Contains(h.Name, "orphan"):
			desired, err := declaration(body)
			if err != nil {
				return nil, "", err
			}
			objects = append(objects, shopped{*h, body, desired})
		}
	}
}

func manifestOf(record []byte) (string, error) {
	var secret struct{ Data struct{ Release []byte } }
	if err := json.Unmarshal(record, &secret); err != nil {
		return "", err
	}
	packed, err := base64.StdEncoding.DecodeString(string(secret.Data.Release))
	if err != nil {
		return "", err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	var r releaseRecord
	err = json.NewDecoder(z).Decode(&r)
	return r.Manifest, err
}

// declaration returns an object as a manifest would have it.
func declaration(body []byte) (string, error) {
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		return "", err
	}
	delete(o, "status")
	if m, ok := o["metadata"].(map[string]any); ok {
		for _, k := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation"} {
			delete(m, k)
		}
	}
	out, err := json.Marshal(o)
	return string(out), err
}
