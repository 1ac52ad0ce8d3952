#!/bin/sh
# Installs drift-detector @VERSION@ on Linux or macOS: the program, its manual page and
# completions. An archive that SHA256SUMS lacks, or whose sum is another, is refused.
#
#   sh install.sh [--prefix DIR] [--from FOLDER|URL] [--key PUBLIC-KEY]
#
# DIR is $PREFIX, or /usr/local. Root is needed only where DIR needs it. FOLDER or URL has
# the files of the release. With --key the signature of SHA256SUMS is verified, by minisign.
set -eu

version=@VERSION@
from=@RELEASES@/@VERSION@
prefix=${PREFIX:-/usr/local}
key=

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# take copies a file of the release into the temporary folder.
take() {
	case $from in
	https://*/OWNER/*) fail "this release was made without its address: give --from FOLDER or --from URL" ;;
	https://*)
		# Some wgets verify no certificate, and follow a redirect to http.
		command -v curl >/dev/null || fail "curl is not installed: download the files of $from, and give their folder with --from"
		curl -fsSL --proto '=https' --tlsv1.2 -o "$tmp/$1" "$from/$1" || fail "cannot download $from/$1"
		;;
	*://*) fail "$from: only https:// is taken" ;;
	*) cp "$from/$1" "$tmp/$1" || fail "cannot read $1 of $from" ;;
	esac
}

sum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# put installs one file of the archive: beside its place, then moved there, so that a program
# that runs keeps its own.
put() {
	{
		mkdir -p "$prefix/${3%/*}" && cp "$tmp/$name/$2" "$prefix/$3.new" &&
			chmod "$1" "$prefix/$3.new" && mv -f "$prefix/$3.new" "$prefix/$3"
	} || fail "cannot write $prefix/$3: choose another place, such as --prefix \"\$HOME/.local\", or run this as root"
}

main() {
	while [ $# -gt 0 ]; do
		[ $# -gt 1 ] || fail "usage: sh install.sh [--prefix DIR] [--from FOLDER|URL] [--key PUBLIC-KEY]"
		[ -n "$2" ] || fail "$1 is empty, as of a variable that is not set: nothing was installed"
		case $1 in
		--prefix) prefix=$2 ;;
		--from) from=${2%/} ;;
		--key) key=$2 ;;
		*) fail "no option $1: there are --prefix, --from and --key" ;;
		esac
		shift 2
	done
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "for $(uname -s) there is no archive here; for Windows unpack the .zip of the release" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "for $(uname -m) there is no archive: build from source" ;;
	esac
	name=drift-detector-$version-$os-$arch

	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	take SHA256SUMS
	if [ -n "$key" ]; then
		command -v minisign >/dev/null || fail "--key needs minisign, which is not installed"
		take SHA256SUMS.minisig
		minisign -Vqm "$tmp/SHA256SUMS" -P "$key" || fail "SHA256SUMS is not signed with this key: nothing was installed"
	fi
	want=$(awk -v file="$name.tar.gz" '$2 == file { print $1 }' "$tmp/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS has no line for $name.tar.gz: nothing was installed"
	take "$name.tar.gz"
	[ "$(sum "$tmp/$name.tar.gz")" = "$want" ] || fail "$name.tar.gz is not what SHA256SUMS has: nothing was installed"
	tar -xzf "$tmp/$name.tar.gz" -C "$tmp"

	put 0755 drift-detector bin/drift-detector
	put 0644 drift-detector.1 share/man/man1/drift-detector.1
	put 0644 completions/drift-detector.bash share/bash-completion/completions/drift-detector
	put 0644 completions/_drift-detector share/zsh/site-functions/_drift-detector
	put 0644 completions/drift-detector.fish share/fish/vendor_completions.d/drift-detector.fish
	echo "drift-detector $version is in $prefix/bin, with manual page and completions in $prefix/share; its sum is that of SHA256SUMS${key:+, whose signature was verified}"
}

main "$@"
