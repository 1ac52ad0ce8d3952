package rehearsal

// restoreRows are what Velero and all controllers ask of the restore as a whole.
var restoreRows = []row[*world]{}
