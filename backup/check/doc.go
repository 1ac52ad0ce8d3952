// Package check says whether a backup can be restored: what it lacks,
// what the restored controllers would stumble over, what has expired since.
//
// [Check] is a pure function of what was read from the backup and of a clock.
// It does no I/O. Each finding says why it matters at the restore and what to
// do about it; none of them says that the backup is useless.
//
// What Velero writes beside a tarball ([ReadVelero]) explains some findings:
// whether an object that is absent was filtered out, or had never existed.
package check
