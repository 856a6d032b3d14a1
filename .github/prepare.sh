#!/usr/bin/env bash
# What .ci/run expects on a machine: PostgreSQL 15 and Redis, of Debian. Run as root in a container of Debian 12.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends git openssl postgresql redis-server python3 psmisc procps
redis-server --daemonize yes --bind 127.0.0.1 --save '' --appendonly no
git config --global --add safe.directory "$PWD"
