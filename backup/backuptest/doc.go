// Package backuptest makes backups for tests, as Velero writes them: from
// objects ([Tarball]), or from a real backup with some items changed ([Rewrite]).
// What it makes goes through the real backup.Load, so that tests start where the
// product starts.
package backuptest
