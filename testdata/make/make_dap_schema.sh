#!/bin/bash
# Writes testdata/dap/protocol.schema.json, by which the tests of `asyncdbg dap` validate each message:
# the types of @vscode/debugprotocol, as JSON Schema. Needs npm and its registry.
#
# usage: make_dap_schema.sh [VERSION]
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y > /dev/null
npm install --no-audit --no-fund "@vscode/debugprotocol@${1:-1.68}" ts-json-schema-generator@2 > /dev/null
npx ts-json-schema-generator --path node_modules/@vscode/debugprotocol/lib/debugProtocol.d.ts \
	--type '*' --jsDoc none --no-type-check -o all.json
python3 - "$testdata/dap/protocol.schema.json" << 'END'
import json
import sys

# A line for each type, so that changes can be read.
types = json.load(open("all.json"))["definitions"]
lines = [f"{json.dumps(name)}: {json.dumps(types[name], sort_keys=True)}" for name in sorted(types)]
with open(sys.argv[1], "w") as f:
    f.write('{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {\n')
    f.write(",\n".join(lines) + "\n}}\n")
END
