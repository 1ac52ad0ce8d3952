package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/archive"
	"github.com/vmware-tanzu/velero/pkg/util/filesystem"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"drift-detector/backup"
	source "drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra/all"
)

// read loads a backup with all that detect wants of it.
func read(file string) error {
	src, err := source.FileSource(file)
	if err != nil {
		return err
	}
	var w backup.Want
	for _, part := range []backup.Want{all.Registry().Want(), check.Want(), rehearsal.Want()} {
		w.Kinds, w.Secrets = append(w.Kinds, part.Kinds...), append(w.Secrets, part.Secrets...)
	}
	_, _, err = backup.Load(context.Background(), []backup.Source{src}, w)
	return err
}

// velero reads a backup as a restore does: it unpacks all of it, looks through the
// folders, and decodes the objects of Cluster API.
func velero(file string) error {
	log := logrus.New()
	log.SetOutput(io.Discard)
	files := filesystem.NewFileSystem()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	dir, err := archive.NewExtractor(log, files).UnzipAndExtractBackup(f)
	if err != nil {
		return err
	}
	resources, err := archive.NewParser(log, files).Parse(dir)
	if err != nil {
		return err
	}
	for name, r := range resources {
		if !strings.HasSuffix(name, "cluster.x-k8s.io") {
			continue
		}
		for namespace, items := range r.ItemsByNamespace {
			for _, item := range items {
				body, err := os.ReadFile(archive.GetItemFilePath(dir, name, namespace, item))
				if err != nil {
					return err
				}
				if err := json.Unmarshal(body, &unstructured.Unstructured{}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
