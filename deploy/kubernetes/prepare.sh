#!/usr/bin/env bash
# Prepares a namespace for `helm install`: makes the Secrets of the chart's values-test.yaml and values-production.yaml, and the
# database's roles with the passwords in them. It can run again: it keeps Secrets that exist and sets the roles' passwords to
# theirs. It leaves nothing on this machine.
#   deploy/kubernetes/prepare.sh             namespace, Secrets, roles
#   deploy/kubernetes/prepare.sh --dry-run   prints the missing namespace and Secrets as YAML; changes nothing
#   deploy/kubernetes/prepare.sh roles       only the roles, with passwords from another tool's Secrets
# Variables: NAMESPACE, HOST, REDIS_PASSWORD, PSQL; for a test environment PARTNER_HOST; for production OPERATORS, POSTGRES_CA and
# REDIS_CA; REDIS_USERNAME, CLUSTER_DOMAIN, FULLNAME. docs/install.md explains them.
set -euo pipefail
umask 077

mode=${1:-all}
case $mode in all | --dry-run | roles) ;; *) sed -n '2,9s/^# *//p' "$0" >&2 && exit 2 ;; esac
: "${NAMESPACE:?is the namespace of the environment}"
[[ $mode == roles ]] || : "${HOST:?is the public host of the exchange}"
for name in ${OPERATORS:-}; do
  [[ $name =~ ^[a-z0-9.-]+(:(operator|auditor|key-rotation|feed))?$ ]] || {
    echo "OPERATORS: $name is not a name, or a name with a role: ann, carol:auditor, ci:key-rotation, platform:feed" >&2
    exit 2
  }
done
[[ $mode == --dry-run ]] || : "${PSQL:?is a command that opens the database as superuser, or as its owner with CREATEROLE}"
fullname=${FULLNAME:-course-exchange}
role_names='identity_migrator catalog_migrator identity_rw identity_operator catalog_ro catalog_feed'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kube() { kubectl --namespace "$NAMESPACE" "$@"; }

present=$(kube get secrets --output=name)
there() { grep --quiet --line-regexp --fixed-strings "secret/$1" <<<"$present"; }

# value SECRET KEY
value() { kube get secret "$1" --output="go-template={{index .data \"$2\" | base64decode}}"; }

# create KIND… WORD… — like kubectl; a dry run prints it
create() {
  if [[ $mode == --dry-run ]]; then
    kube create "$@" --dry-run=client --output=yaml
    echo ---
  else
    kube create "$@"
  fi
}

# wanted SECRET — makes a folder for its keys, unless it exists
wanted() {
  if there "$1"; then
    [[ $mode == --dry-run ]] || echo "secret/$1 kept"
    return 1
  fi
  mkdir "$work/$1"
}

# make SECRET — from the files in its folder
make() {
  local type=Opaque
  [[ $1 != *-tls ]] || type=kubernetes.io/tls
  create secret generic "$1" --type="$type" --from-file="$work/$1"
}

# certify FOLDER WORD… — a new key on P-256 and its certificate
certify() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc "${@:2}" \
    -keyout "$work/$1/tls.key" -out "$work/$1/tls.crt" 2>"$work/said" || {
    cat "$work/said" >&2
    exit 1
  }
}

# signed_by AUTHORITY — existing certificates of this authority or its predecessor
signed_by() {
  local names
  case $1 in
    course-exchange-services) names="$fullname-(gateway|identity|design-catalog)-tls" ;;
    course-exchange-operators)
      names=$(sed -E 's/:[^ ]*//g; s/ +/|/g' <<<"$OPERATORS")
      names="course-exchange-(operator|feed|key-rotation|audit-export)-tls|operator-($names)"
      ;;
    *) return 1 ;;
  esac
  grep -E "^secret/($names)\$" <<<"$present"
}

# authority SECRET — into a folder; made if it is missing
authority() {
  [[ ! -d $work/$1 ]] || return 0
  mkdir "$work/$1"
  if there "$1"; then
    for file in tls.crt tls.key; do value "$1" $file >"$work/$1/$file"; done
  elif signed=$(signed_by "$1"); then
    # These certificates and those of a new authority would not trust each other.
    echo "secret/$1 is missing, and a new authority would not match ${signed//$'\n'/, }: bring back the old one, or delete those." >&2
    exit 1
  else
    certify "$1" -days 3650 -subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE
    make "$1"
  fi
}

# certificate SECRET SUBJECT AUTHORITY USAGE NAME… — signed by the authority for these names
certificate() {
  wanted "$1" || return 0
  authority "$3"
  local names
  names=$(printf ',DNS:%s' "${@:5}")
  certify "$1" -days 365 -subj "/$2" -addext "subjectAltName=${names#,}" \
    -addext basicConstraints=critical,CA:FALSE -addext "extendedKeyUsage=$4" \
    -CA "$work/$3/tls.crt" -CAkey "$work/$3/tls.key"
  cp "$work/$3/tls.crt" "$work/$1/ca.crt"
  make "$1"
}

# holder SECRET NAME ROLE — of a role at the operator port and the feed port, which is the certificate's only OU
holder() { certificate "$1" "OU=$3/CN=$2" course-exchange-operators clientAuth "$2"; }

# trusted SECRET FILE — an authority's file, if given
trusted() {
  [[ -n $2 ]] || return 0
  wanted "$1" || return 0
  cp "$2" "$work/$1/ca.crt"
  make "$1"
}

# random SECRET KEY — 256 bits that need no quoting in SQL and URLs
random() { openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n' >"$work/$1/$2"; }

secrets() {
  # An operator may lack the right to read namespaces.
  { kubectl get namespace "$NAMESPACE" || kube get serviceaccount default; } >/dev/null 2>&1 || create --filename=- <<END
apiVersion: v1
kind: Namespace
metadata: { name: "$NAMESPACE", labels: { pod-security.kubernetes.io/enforce: restricted } }
END
  local name role
  if wanted course-exchange-keys; then
    for name in key-encryption-key user-hash-key; do random course-exchange-keys $name; done
    make course-exchange-keys
  fi
  for role in $role_names; do
    name=course-exchange-${role//_/-}
    wanted "$name" || continue
    printf %s "$role" >"$work/$name/username"
    random "$name" password
    make "$name"
  done
  if wanted course-exchange-redis; then
    printf %s "${REDIS_PASSWORD:?is the password of Redis}" >"$work/course-exchange-redis/password"
    [[ -z ${REDIS_USERNAME:-} ]] || printf %s "$REDIS_USERNAME" >"$work/course-exchange-redis/username"
    make course-exchange-redis
  fi
  if [[ -n ${PARTNER_HOST:-} ]] && wanted course-exchange-demo-partner; then
    # Public, because it opens only demo data.
    printf %s 'course-exchange demo secret of paddock-planner' | openssl dgst -sha256 -binary | openssl base64 -A |
      tr '+/' '-_' | tr -d '=' >"$work/course-exchange-demo-partner/client-secret"
    random course-exchange-demo-partner token-encryption-key
    make course-exchange-demo-partner
  fi
  trusted course-exchange-postgres-ca "${POSTGRES_CA:-}"
  trusted course-exchange-redis-ca "${REDIS_CA:-}"
  # shellcheck disable=SC2086 # no word without a demo partner
  certificate course-exchange-ingress-tls "CN=$HOST" course-exchange-public serverAuth "$HOST" ${PARTNER_HOST:-}
  local domain=$NAMESPACE.svc.${CLUSTER_DOMAIN:-cluster.local}
  for name in gateway identity design-catalog; do
    certificate "$fullname-$name-tls" "CN=$name" course-exchange-services serverAuth,clientAuth "$fullname-$name.$domain"
  done
  [[ -n ${OPERATORS:-} ]] || return 0
  certificate course-exchange-operator-tls CN=operator course-exchange-operators serverAuth \
    "$fullname-identity-operator.$domain" localhost
  certificate course-exchange-feed-tls CN=feed course-exchange-operators serverAuth \
    "$fullname-design-catalog-feed.$domain" localhost
  holder course-exchange-key-rotation-tls key-rotation key-rotation
  holder course-exchange-audit-export-tls audit-export auditor
  for name in $OPERATORS; do
    role=operator
    [[ $name != *:* ]] || role=${name#*:}
    holder "operator-${name%:*}" "${name%:*}" "$role"
  done
}

# hmac KEY TEXT — by SHA-256, with a key of 32 bytes in hex. No program gets a secret as an argument, which others could list.
hmac() {
  local key i byte inner='' outer=''
  key=$1$(printf %064d 0)
  for ((i = 0; i < 128; i += 2)); do
    byte=$((16#${key:i:2}))
    printf -v inner '%s\\x%02x' "$inner" $((byte ^ 0x36))
    printf -v outer '%s\\x%02x' "$outer" $((byte ^ 0x5c))
  done
  { printf %b "$outer" && { printf %b "$inner" && printf %s "$2"; } | openssl dgst -sha256 -binary; } |
    openssl dgst -sha256 -binary
}

# verifier PASSWORD — what Postgres stores (SCRAM-SHA-256, RFC 5803), because its log may have statements
verifier() {
  local salt hex salted client server
  salt=$(openssl rand -base64 8) &&
    hex=$(openssl base64 -d <<<"$salt" | od -An -v -tx1 | tr -d ' \n') &&
    salted=$(printf %s "$1" | openssl enc -aes-256-cbc -pbkdf2 -md sha256 -iter 4096 -S "$hex" -P -pass stdin) &&
    salted=$(printf %s "$salted" | sed -n 's/^key *= *//p') &&
    client=$(hmac "$salted" 'Client Key' | openssl dgst -sha256 -binary | openssl base64 -A) &&
    server=$(hmac "$salted" 'Server Key' | openssl base64 -A) &&
    echo "SCRAM-SHA-256\$4096:$salt\$$client:$server"
}

# Passwords are in a Secret for each role, or in the Secret of examples/external-secrets.yaml.
roles() {
  local role secret password LC_ALL=C
  for role in $role_names; do
    secret=course-exchange-${role//_/-}
    if there course-exchange; then
      password=$(value course-exchange "$role")
    elif [[ $(value "$secret" username) == "$role" ]]; then
      password=$(value "$secret" password)
    else
      echo "role $role kept as it is: secret/$secret names another account" >&2
      continue
    fi
    # Clients normalize other characters before they hash.
    [[ $password =~ ^[\ -~]+$ ]] || {
      echo "the password of $role is empty, or has a character that is not printable ASCII" >&2
      exit 1
    }
    password=$(verifier "$password") || exit 1
    printf "alter role %s password '%s';\n" "$role" "$password"
  done >"$work/passwords.sql"
  # shellcheck disable=SC2086 # a command with its words
  { printf '%s\n' '\set ON_ERROR_STOP on' '\set QUIET on' 'set client_min_messages = warning;' &&
    cat "$(dirname "$0")/../postgres/roles.sql" "$work/passwords.sql"; } | $PSQL
  echo 'database roles have the passwords in the Secrets'
}

[[ $mode == roles ]] || secrets
[[ $mode != --dry-run ]] || exit 0
present=$(kube get secrets --output=name)
roles
