#!/bin/sh
# The Debian packages of a build: what they hold and what they need.
# check_package.sh BUILD_DIR WORK_DIR
set -eu
build=$1 work=$2
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "skipped: $tool is missing (package dpkg-dev)" && exit 77; }
done
rm -rf "$work" && mkdir -p "$work"
# What is packed is tested, not how well: compression takes most of the time.
cpack --config "$build/CPackConfig.cmake" -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none -B "$work" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }

fail() { echo "$*" >&2 && exit 1; }
holds() { dpkg-deb -c "$work"/$1_*.deb | grep -qE " \./usr/$2\$" || fail "$1 does not hold $2"; }
holds sextant bin/sextant
holds sextant 'lib/.*libsextant_trace.so'
holds sextant share/sextant/data/gpus.json
holds sextant share/sextant/data/coefficients/verl.json
holds sextant share/man/man1/sextant-plan.1
holds sextant share/bash-completion/completions/sextant
holds sextant share/doc/sextant/copyright
holds libsextant-dev include/sextant/predict.h
holds libsextant-dev 'lib/.*SextantConfig.cmake'
! dpkg-deb -c "$work"/sextant_*.deb | grep -q 'include/' || fail "sextant holds headers"
dpkg-deb -f "$work"/sextant_*.deb Depends | grep -q libc6 || fail "sextant depends on no library"

# Unpacked anywhere, it finds its data.
dpkg-deb -x "$work"/sextant_*.deb "$work/root"
env -u SEXTANT_DATA "$work/root/usr/bin/sextant" plan --gpus 8xH100 --model Qwen/Qwen3-4B --framework verl --budget 0.3 \
  >"$work/plan" 2>&1 || { cat "$work/plan" && exit 1; }
grep -q "$work/root/usr/share/sextant/data/coefficients/verl.json" "$work/plan" || fail "it took other coefficients"
