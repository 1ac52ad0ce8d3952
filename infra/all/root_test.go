package all

// root is the root of the repository. TestASkeletonHearsAllThatItLacks puts another in
// its place.
const root = "../.."
