"""What other projects' rules find is redacted, or there is a reason why not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.secrets import second_opinion
from holdfast.redact import redact
from support.npm_client import npm_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning"),
    pytest.mark.skipif(
        shutil.which("kingfisher", path=str(Path(sys.executable).parent)) is None,
        reason="kingfisher-bin is not installed",
    ),
]

SECRETLINT = "12.0.0"
PRESET = "@secretlint/secretlint-rule-preset-recommend"
# What it finds in each text of a file, as [[text, ...], ...].
PROGRAM = f"""
import {{ readFileSync }} from "node:fs";
import {{ lintSource }} from "@secretlint/core";
import {{ creator as rule }} from "{PRESET}";
const found = [];
for (const content of JSON.parse(readFileSync(process.argv[2], "utf8"))) {{
  const source = {{ filePath: "/a.txt", content, contentType: "text", ext: ".txt" }};
  const config = {{ rules: [{{ id: "{PRESET}", rule, options: {{}} }}] }};
  const {{ messages }} = await lintSource({{ source, options: {{ config }} }});
  found.push(messages.map(({{ range }}) => content.slice(...range)));
}}
console.log(JSON.stringify(found));
"""


def test_what_other_rules_find_is_redacted_or_has_a_reason() -> None:
    kinds = list(second_opinion.opinions(second_opinion.read_rules()))
    assert len(kinds) >= 800
    left = [one for one in second_opinion.missed(kinds) if not second_opinion.reason_for(one.kind)]
    assert left == []


@pytest.mark.npm
def test_secretlint_finds_nothing_in_what_is_left(tmp_path: Path) -> None:
    packages = (f"@secretlint/core@{SECRETLINT}", f"{PRESET}@{SECRETLINT}")
    folder = npm_folder(f"secretlint-{SECRETLINT}", *packages)
    kinds = list(second_opinion.opinions(second_opinion.read_rules()))
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps([one.text for one in kinds] + [redact(one.text) for one in kinds]))
    program = tmp_path / "find.mjs"
    program.write_text(PROGRAM)
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    command = ["node", "--preserve-symlinks-main", str(program), str(texts)]
    printed = subprocess.run(command, capture_output=True, check=True, timeout=300, cwd=tmp_path)
    found = json.loads(printed.stdout)
    assert sum(map(bool, found[: len(kinds)])) > 40
    left = {
        one.kind: words
        for one, words in zip(kinds, found[len(kinds) :], strict=True)
        if any("[redacted:" not in word for word in words)
    }
    # The made text is too short for a token, or has signs that no address has.
    assert {kind for kind in left if not second_opinion.reason_for(kind)} == set()
