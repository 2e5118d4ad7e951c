"""Settings files in the shapes that users have. Written by hand after real ones."""

import json

_REAL = {
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "model": "opus",
    "env": {"EDITOR": "vim", "PORT": "8080"},
    "permissions": {"allow": ["Bash(npm test:*)", "Read(~/notes/**)"], "deny": []},
    "statusLine": {"type": "command", "command": "~/.claude/line.sh", "padding": 0},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "rtk guard"}]}],
        "Stop": [
            {
                "matcher": "",
                "hooks": [{"type": "command", "command": "afplay /done.aiff", "timeout": 5}],
            }
        ],
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]}],
    },
    "note": "größer → 日本 \u2028 \U0001f600",
}

_TWO = json.dumps(_REAL, indent=2, ensure_ascii=False)

STYLES: dict[str, bytes] = {
    "two spaces, newline at the end": (_TWO + "\n").encode(),
    "two spaces, none at the end": _TWO.encode(),
    "four spaces": json.dumps(_REAL, indent=4).encode() + b"\n",
    "tabs": json.dumps(_REAL, indent="\t").encode() + b"\n",
    "CRLF": (_TWO + "\n").replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + _TWO.encode(),
    "UTF-16 with its mark": b"\xff\xfe" + _TWO.encode("utf-16-le"),
    "minified": json.dumps(_REAL, separators=(",", ":")).encode(),
    "one line with spaces": json.dumps(_REAL).encode() + b"\n\n",
    "no indentation": b'{\n"model": "opus",\n"env": {\n"A": "1"\n}\n}\n',
    "ragged": b'\n { "a":1 ,\n\n\t"b" : [ ] , "hooks":{ "Stop":[ ] ,"X":[ 1 ]} \t}\n ',
    "empty object": b"{}",
    "spacious empty object": b"{ \n\n }\n",
    "empty hooks": b'{\n  "hooks": {}\n}\n',
    "spacious empty hooks": b'{\n  "hooks": {\n  }\n}\n',
    "empty event": b'{"hooks": {"Stop": [ ]}}',
    "empty group": b'{"hooks": {"Stop": [{"matcher": "", "hooks": []}]}}',
    "empty file": b"",
    "blank file": b" \r\n",
    "mark alone": b"\xef\xbb\xbf",
    "hooks last, inline": b'{\n  "a": 1,\n  "hooks": {"Stop": [{"hooks": []}]}\n}\n',
    "same key twice elsewhere": b'{"a": 1, "a": 2, "env": {"X": "1", "X": "2"}}\n',
    "numbers as written": b'{"a": 1.0, "b": 1e400, "c": -0, "d": ' + b"9" * 5000 + b"}",
    "half a surrogate pair": b'{"a": "\\ud800", "\\udc00": 1}',
    "members in odd groups": b'{"hooks": {"Stop": [null, 5, {"hooks": {"a": 1}}, {"x": []}]}}',
}
