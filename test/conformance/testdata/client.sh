#!/bin/bash
# The client of the conformance suite: p8's own commands, and a browser that follows
# redirects. The suite appends the address of its server and names the scenario.
url=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export P8_DATA_DIR=$dir P8_MCP_CONFIG=$dir/servers.json

context() { node -e 'const c = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}"); '"$@"; }
call() { "$P8" tools call "$@" --yes --server it; }

# login signs in; the browser follows the address that p8 prints.
login() {
  coproc LOGIN { "$P8" tools login it "$@" 2>&1; }
  local pid=$LOGIN_PID address=
  while read -r _ line; do
    echo "$line" >&2
    case $line in http*) curl -sSL --max-time 20 -o /dev/null "$line" ;; esac
  done <&"${LOGIN[0]}"
  wait "$pid"
}

oauth='{"client_id": "https://conformance-test.local/client-metadata.json"}'
case $MCP_CONFORMANCE_SCENARIO in
auth/pre-registration)
  oauth=$(context 'console.log(JSON.stringify({client_id: c.client_id, client_secret: c.client_secret, grant: "authorization_code"}))') ;;
auth/client-credentials-basic)
  oauth=$(context 'console.log(JSON.stringify({client_id: c.client_id, client_secret: c.client_secret}))') ;;
esac
echo "{\"mcpServers\": {\"it\": {\"url\": \"$url\", \"oauth\": $oauth}}}" >"$P8_MCP_CONFIG"

case $MCP_CONFORMANCE_SCENARIO in
tools_call) "$P8" tools call add_numbers a=5 b=3 --yes --server "$url" ;;
elicitation-sep1034-client-defaults) call test_client_elicitation_defaults --answer '{}' ;;
sse-retry) call test_reconnection ;;
sep-2322-client-request-state)
  for tool in echo_state no_state unrelated no_result_type; do call test_mrtr_$tool --answer '{"confirmed": true}'; done
  true ;;
http-standard-headers) call "$("$P8" tools list it --json | grep -m1 '"name"' | cut -d'"' -f4)" ;;
http-custom-headers)
  context 'for (const t of c.toolCalls) console.log(t.name + "\t" + JSON.stringify(t.arguments))' >"$dir/calls"
  while IFS=$'\t' read -r tool arguments; do call "$tool" "$arguments"; done <"$dir/calls"
  true ;;
http-invalid-tool-headers)
  for tool in $("$P8" tools list it --json | grep '"name"' | cut -d'"' -f4); do call "$tool" region=us-west1; done
  true ;;
json-schema-2020-12-preservation)
  "$P8" tools list it --json >"$dir/tools"
  call json_schema_echo "$(context 'for (const t of JSON.parse(require("fs").readFileSync(process.argv[1]))) if (t.name == "json_schema_2020_12_tool") console.log(JSON.stringify({schema: t.parameters}))' "$dir/tools")" ;;
auth/client-credentials-*) "$P8" tools list it ;;
auth/*)
  login || exit
  for _ in 1 2; do
    call test-tool 2>"$dir/error" && exit
    cat "$dir/error" >&2
    scope=$(grep -o -- '--scope "[^"]*"' "$dir/error" | cut -d'"' -f2)
    grep -q 'p8 tools login' "$dir/error" || exit 1
    login --scope "$scope" || exit
  done
  call test-tool ;;
*) "$P8" tools list it ;;
esac
