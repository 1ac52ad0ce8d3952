#!/bin/sh
# Installs drift-detector @VERSION@ on Linux or macOS: the program, its manual page and
# completions. An archive that SHA256SUMS lacks, or whose sum is another, is refused.
#
#   sh install.sh [--prefix DIR] [--from FOLDER|URL] [--key PUBLIC-KEY]
#   sh install.sh --uninstall [--prefix DIR]
#   sh install.sh --help
#
# DIR is $PREFIX, or /usr/local. Root is needed only where DIR needs it. FOLDER or URL has
# the files of the release. With --key the signature of SHA256SUMS is verified, by minisign. What
# was installed before is replaced when all is verified, and stays otherwise.
set -eu

version=@VERSION@
from=@RELEASES@/@VERSION@
prefix=${PREFIX:-/usr/local}
key=
usage="usage: sh install.sh [--prefix DIR] [--from FOLDER|URL] [--key PUBLIC-KEY], or sh install.sh --uninstall [--prefix DIR]"

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

# sum reads standard input: beside the name of a file both put a backslash before a sum where that has one.
sum() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$1" | cut -d ' ' -f 1
}

# each calls a function for every file that is installed: its mode, its name in the archive and
# its place below the prefix. The program is the last to be replaced.
each() {
	while read -r mode file place; do
		"$1" "$mode" "$file" "$place"
	done <<-END
		0644 drift-detector.1 share/man/man1/drift-detector.1
		0644 completions/drift-detector.bash share/bash-completion/completions/drift-detector
		0644 completions/_drift-detector share/zsh/site-functions/_drift-detector
		0644 completions/drift-detector.fish share/fish/vendor_completions.d/drift-detector.fish
		0755 drift-detector bin/drift-detector
	END
}

elsewhere="choose another place, such as --prefix \"\$HOME/.local\", or run this as root"

# stage puts a file beside its place. Into a folder that is there mv would move it, and say nothing.
stage() {
	[ ! -d "$prefix/$3" ] || fail "$prefix/$3 is a folder: nothing was installed"
	{
		mkdir -p "$prefix/${3%/*}" && cp "$tmp/$name/$2" "$prefix/$3.new.$$" && chmod "$1" "$prefix/$3.new.$$"
	} || fail "cannot write $prefix/$3: nothing was installed; $elsewhere"
}

unstage() { rm -f "$prefix/$3.new.$$" 2>/dev/null || :; }

# sweep removes what a run that was killed has left beside a place: its number is of no process any more.
sweep() {
	for left in "$prefix/$3".new.*; do
		pid=${left##*.new.}
		case $pid in
		'' | *[!0-9]*) ;;
		*) kill -0 "$pid" 2>/dev/null || rm -f "$left" 2>/dev/null || : ;;
		esac
	done
}

# put moves a file to its place in one step, so that a program that runs keeps its own.
put() { mv -f "$prefix/$3.new.$$" "$prefix/$3" || fail "cannot write $prefix/$3: $elsewhere"; }

# removable stops before anything is removed where a folder is in a place.
removable() {
	[ ! -d "$prefix/$3" ] || [ -L "$prefix/$3" ] || fail "$prefix/$3 is a folder, which is not of drift-detector: nothing was removed"
}

remove() {
	sweep "$@"
	if [ -e "$prefix/$3" ] || [ -L "$prefix/$3" ]; then
		rm -f "$prefix/$3" || fail "cannot remove $prefix/$3: give the --prefix of its installation, or run this as root"
		removed=yes
	fi
}

main() {
	umask 022 # what is installed is for everybody; the temporary folder is not
	uninstall=
	while [ $# -gt 0 ]; do
		case $1 in
		--uninstall)
			uninstall=yes
			shift
			continue
			;;
		-h | --help)
			echo "$usage"
			return
			;;
		esac
		[ $# -gt 1 ] || fail "$usage"
		[ -n "$2" ] || fail "$1 is empty, as of a variable that is not set: nothing was done"
		case $2 in --*) fail "$1 has no value, but $2 behind it: nothing was done" ;; esac
		case $1 in
		--prefix) prefix=$2 ;;
		--from) from=${2%/} ;;
		--key) key=$2 ;;
		*) fail "no option $1: there are --prefix, --from, --key and --uninstall" ;;
		esac
		shift 2
	done
	if [ -n "$uninstall" ]; then
		removed=
		each removable
		each remove
		[ -n "$removed" ] || fail "nothing of drift-detector is in $prefix: give the --prefix of its installation"
		echo "drift-detector, its manual page and its completions are no longer in $prefix"
		return
	fi
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
	trap 'rm -rf "$tmp"; each unstage' EXIT
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
	(cd "$tmp" && tar -xzf "$name.tar.gz") # some read a backslash in the name of a folder

	each sweep
	each stage
	trap '' HUP INT TERM # a few moves, and all are new
	each put
	echo "drift-detector $version is in $prefix/bin, with manual page and completions in $prefix/share; its sum is that of SHA256SUMS${key:+, whose signature was verified}"
}

main "$@"
