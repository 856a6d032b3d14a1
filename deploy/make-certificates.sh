#!/bin/sh
# Makes a certificate authority and one certificate per server of compose.yaml, valid for two years. Existing ones stay.
# To renew them, remove the volumes ca and tls-*, and start everything again. Writes the user of PgBouncer each time.
set -eu
umask 077
folder=$1
# Gives a file to the user of a container. In a container this runs as root, and may replace but not change files of others.
give() { if [ "$(id -u)" = 0 ]; then chown "$1:$1" "$2"; fi; }

if [ -n "${API_ROLE_PASSWORD:-}" ]; then
  rm -f "$folder/pgbouncer/users.txt"
  printf '"market_api" "%s"\n' "$API_ROLE_PASSWORD" >"$folder/pgbouncer/users.txt"
  give 70 "$folder/pgbouncer/users.txt"
fi
if [ -f "$folder/ca/ca.crt" ]; then exit 0; fi

authority=$(mktemp -d)
trap 'rm -rf "$authority"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 730 -subj '/CN=Agent Market' \
  -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign' \
  -keyout "$authority/ca.key" -out "$authority/ca.crt" 2>/dev/null

# The server, and the user that its container runs as.
for entry in postgres:999 pgbouncer:70 redis:999 s3:1000; do
  name=${entry%:*}
  user=${entry#*:}
  rm -f "$folder/$name/server.key" "$folder/$name/server.crt"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
    -keyout "$folder/$name/server.key" -out "$authority/$name.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost\nextendedKeyUsage=serverAuth\n' "$name" >"$authority/extensions"
  openssl x509 -req -days 730 -in "$authority/$name.csr" -CA "$authority/ca.crt" -CAkey "$authority/ca.key" \
    -CAcreateserial -extfile "$authority/extensions" -out "$folder/$name/server.crt" 2>/dev/null
  chmod 755 "$folder/$name"
  chmod 644 "$folder/$name/server.crt"
  give "$user" "$folder/$name/server.key"
  give "$user" "$folder/$name/server.crt"
done

# Last, because it says that everything is there.
chmod 755 "$folder/ca"
cp "$authority/ca.crt" "$folder/ca/ca.crt"
chmod 644 "$folder/ca/ca.crt"
