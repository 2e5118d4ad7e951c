"""The plugin by itself, in Node: whatever the client hands it, no hook throws and none hangs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import holdfast
from holdfast.install import launcher as hook_launcher
from holdfast.install.opencode import format_plugin

SOURCE = Path(holdfast.__file__).parent / "clients" / "opencode" / "plugin.js"

TRY = """
import { Holdfast } from "./holdfast.mjs"
const never = () => new Promise(() => {})
const fail = () => { throw new Error("thrown") }
const message = (id, role, more = {}) => ({
  info: { id, role, sessionID: "ses_1", time: { created: 1, completed: 2 }, ...more },
  parts: [{ type: "text", text: "words" }],
})
const strange = [undefined, null, 5, "x", [], {}, { sessionID: 5 }, { event: null }, { parts: 7 },
  { event: { type: "message.updated", properties: null } },
  { event: { type: "message.removed", properties: {} } }]
let count = 0
setInterval(() => {}, 1000) // the plugin's own timers keep no process alive
for (const answer of [fail, () => null, async () => ({ data: "no list" }), never]) {
  const client = { session: { get: answer, messages: answer }, tui: { showToast: answer } }
  const hooks = await Holdfast({ client, directory: "/" })
  const inputs = answer === never ? [] : strange
  for (const hook of Object.values(hooks))
    for (const input of inputs)
      for (const output of [undefined, null, {}, { messages: [null] }, { context: [] }]) {
        await hook(input, output)
        count++
      }
  const summary = message("m2", "assistant", { summary: true, finish: "stop" })
  const messages = [summary, message("m3", "user")]
  const before = JSON.stringify(messages)
  await hooks["experimental.chat.messages.transform"]({}, { messages })
  if (JSON.stringify(messages) !== before) throw new Error("a request was changed")
  const output = { context: [] }
  await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, output)
  if (output.context.length) throw new Error("something was said")
}
console.log(JSON.stringify({ count }))
process.exit(0)
"""


def find_node() -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed, so the plugin cannot be run by itself")
    return node


@pytest.mark.parametrize("program", ["missing", "failing", "babbling"])
def test_no_hook_throws(tmp_path: Path, program: str) -> None:
    launcher = hook_launcher.build_launcher(str(tmp_path), "/usr/bin/python3", "/none/main.py")
    if program != "missing":
        said = "exit 3" if program == "failing" else 'echo "{{{ no JSON"; echo more'
        Path(launcher.path).write_text(f"#!/bin/sh\n{said}\n")
        Path(launcher.path).chmod(0o700)
    (tmp_path / "holdfast.mjs").write_text(format_plugin("opencode", launcher))
    (tmp_path / "try.mjs").write_text(TRY)
    ended = subprocess.run(
        [find_node(), "try.mjs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["count"] > 400


def test_what_an_install_fills_in_stands_in_the_source_once() -> None:
    text = SOURCE.read_text()
    assert text.count("const COMMAND = []\n") == text.count("const RECALL = []\n") == 1
