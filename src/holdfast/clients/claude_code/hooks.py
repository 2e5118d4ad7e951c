"""What the hooks ask Claude Code: payloads, output, whose call it is.

The output contract is seen on the client, and held by `check_output`, which the tests and
`holdfast doctor` use. Imported by the lightest hooks.
"""

from __future__ import annotations

import os

from holdfast.clients.claude_code.subagent_compaction import (
    must_be_subagent_compaction,
    payload_has_agent_id,
)
from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload, parse_object, read_text, strip_terminal_codes
from holdfast.fastpath.session_dir import SessionDir, encode_json_string
from holdfast.files import exists, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# At these the client speaks of a subagent's own context: the main thread's state stays out.
COMPACTION_EVENTS = frozenset(("PreCompact", "PostCompact", "SessionStart"))
# Stdout of these is not for the model; JSON with `hookSpecificOutput` is refused as a whole.
SILENT_EVENTS = frozenset(("PostCompact", "SessionEnd"))
CONTEXT_EVENTS = frozenset(
    "SessionStart UserPromptSubmit UserPromptExpansion PostToolBatch PostToolUse"
    " PostToolUseFailure Stop SubagentStop PreToolUse Setup SubagentStart PostModelSwitch".split()
)
# In the session's directory: the user asked for the compaction, and only the main thread's can be
# asked for. SessionStart does not say who did.
MANUAL_FILE = "asked"

# Rows of the client's own book-keeping, which may be appended between PreCompact and
# SessionStart(compact) without making a prepared brief stale. Judged by how a row begins, because
# parsing would cost more than the answer.
_NAMES = (
    b"last-prompt atis-latch tools-used cost-state mode permission-mode ai-title api-request"
    b" api-request-shape api-request-blob file-history-snapshot file-history-delta"
)
_BOOKKEEPING_STARTS = (
    *(b'{"type":"%s"' % name for name in _NAMES.split()),
    b'{"type":"queue-operation","operation":"dequeue"',
)
# What the user typed while the agent worked is said; the command that compacts is not.
_QUEUED = b'{"type":"queue-operation","operation":"enqueue"'
_COMPACT = b'"content":"/compact'


class ClaudeCodeHooks(HookClient):
    NAME = "claude-code"
    # Beyond this the client shows the model a 2,000-character preview, or cuts.
    MAX_OUTPUT_CHARS = 10_000
    DETACHES_WORK = False  # installed as async
    PROCESS_VARIABLE = "CLAUDE_PID"
    STEERS = True  # PreCompact's output is added to the summariser's instructions

    def leaves_to_others(self, environ: Mapping[str, str]) -> bool:
        """The plugin's hooks are silent where those of `holdfast install` run, so that nothing is
        steered, saved or delivered twice.
        """
        return bool(environ.get("CLAUDE_PLUGIN_ROOT")) and are_settings_hooks_installed(environ)

    def parse_payload(self, raw: bytes, event: str) -> HookPayload | None:
        """None for anything that is not Claude Code calling.

        Cursor reads Claude Code's settings and runs our hooks with payloads of its own shape.
        """
        fields = parse_object(raw)
        if fields is None or "cursor_version" in fields or "conversation_id" in fields:
            return None
        payload = HookPayload(event, fields)
        self.fill_payload(payload, fields)
        named = read_text(fields, "hook_event_name")
        return payload if payload.session_id and named in ("", event) else None

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        payload.prompt_id = read_text(fields, "prompt_id")
        payload.command = read_text(fields, "command_name")
        payload.command_arguments = read_text(fields, "command_args")
        payload.summary = self.extract_summary(read_text(fields, "compact_summary"))
        payload.model = read_text(fields, "to_model")
        tokens = fields.get("context_tokens")
        payload.context_tokens = tokens if type(tokens) is int else 0
        # The agent that summarises has no type; its last words are the summary.
        payload.is_summariser = payload.event == "SubagentStop" and not payload.agent_type

    def extract_summary(self, answer: str) -> str:
        """The part of the summariser's answer that stays in context: not its analysis."""
        # First the analysis, as the client does: it may speak of the <summary> to come.
        before, opening, rest = answer.partition("<analysis>")
        if opening and (closed := rest.partition("</analysis>"))[1]:
            answer = before + closed[2]
        _, opening, rest = answer.partition("<summary>")
        if opening:
            inner, closing, _ = rest.rpartition("</summary>")
            return (inner if closing else rest).strip()
        return answer.partition("<analysis>")[0].strip()

    def is_subagents_own(self, payload: HookPayload, data: str) -> bool:
        if payload.event not in COMPACTION_EVENTS:
            return False
        if payload.event == "SessionStart" and payload.source != "compact":
            return bool(payload.agent_id)
        return belongs_to_subagent(payload, data)

    def find_own_transcript(self, payload: HookPayload) -> str:
        agent, folder = payload.agent_id, payload.transcript_path.removesuffix(".jsonl")
        if payload.event == "PostCompact" or not agent.replace("-", "").isalnum():
            return ""
        return f"{folder}/subagents/agent-{agent}.jsonl"

    def is_bookkeeping_row(self, row: bytes) -> bool:
        return row.startswith(_BOOKKEEPING_STARTS) or (row.startswith(_QUEUED) and _COMPACT in row)

    def format_question(self, text: str, question: str) -> str:
        """Asks also where the client would have let the call pass."""
        answer = self.format_context("PreToolUse", text or question)
        said = encode_json_string(strip_terminal_codes(question))
        asked = f'"permissionDecision":"ask","permissionDecisionReason":{said},'
        return answer.replace('"additionalContext":', asked + '"additionalContext":', 1)

    def format_instructions(self, text: str) -> str:
        """The stdout of PreCompact: plain text. What could be taken for JSON is not printed."""
        text = strip_terminal_codes(text)
        return "" if text.lstrip().startswith(("{", "[")) else text

    def check_output(self, event: str, stdout: str) -> list[str]:
        if not stdout:
            return []
        most, is_json = self.MAX_OUTPUT_CHARS, stdout.lstrip().startswith(("{", "["))
        if event == "PreCompact":
            problems = []
            if is_json:
                problems.append("PreCompact printed JSON: the summariser would be given it")
            if len(stdout) > most:
                problems.append(f"PreCompact printed {len(stdout)} characters: cut at {most}")
            return problems
        if event in SILENT_EVENTS:
            return [f"{event} printed output, which never reaches the model"]
        if event not in CONTEXT_EVENTS:
            return [f"{event} is not an event that takes context"]
        if event == "PreToolUse" and '"permissionDecision":' in stdout:
            asks = '"permissionDecision":"ask","permissionDecisionReason":' in stdout
            return [] if asks else [f"{event} decided in the user's place"]
        return _check_context(event, stdout, most)


def _check_context(event: str, stdout: str, most: int) -> list[str]:
    import json

    try:
        output = json.loads(stdout)
    except ValueError as error:
        return [f"{event} did not print JSON: {error}"]
    if not isinstance(output, dict) or not set(output) <= {"hookSpecificOutput", "systemMessage"}:
        return [f"{event} printed something other than hookSpecificOutput and systemMessage"]
    message, specific = output.get("systemMessage", ""), output.get("hookSpecificOutput")
    if not isinstance(message, str) or len(message) > most:
        return ["systemMessage is not a string, or too long"]
    if message and specific is None:
        return []
    if not isinstance(specific, dict):
        return [f"{event} printed no hookSpecificOutput"]
    problems = []
    if specific.get("hookEventName") != event:
        problems.append(f"hookEventName is {specific.get('hookEventName')!r}, not {event!r}")
    if extra := sorted(set(specific) - {"hookEventName", "additionalContext"}):
        problems.append(f"unknown fields: {', '.join(extra)}")
    context = specific.get("additionalContext")
    if not isinstance(context, str) or not context:
        problems.append("additionalContext is not a string")
    elif len(context) > most:
        problems.append(f"additionalContext has {len(context)} characters: more than {most}")
    return problems


def are_settings_hooks_installed(environ: Mapping[str, str]) -> bool:
    """Whether a settings file names a launcher whose Holdfast is still on the disk."""
    from holdfast.fastpath.installed_hooks import names_holdfast

    project = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    return any(names_holdfast(path) for path in list_settings_files(environ, project))


def list_settings_files(environ: Mapping[str, str], project: str) -> list[str]:
    """The user's and the project's, the weakest first."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    files = [f"{config}/settings.json"] if config else []
    if project:
        files += [f"{project}/.claude/settings.json", f"{project}/.claude/settings.local.json"]
    return files


def belongs_to_subagent(payload: HookPayload, data: str) -> bool:
    """For PreCompact, SessionStart(compact) and PostCompact."""
    if payload.agent_id:
        return True
    session_dir = SessionDir(data, payload.session_id)
    if payload.trigger == "manual":
        if payload.event == "PreCompact" and not payload_has_agent_id(payload.transcript_path):
            try:  # noqa: SIM105  contextlib costs 3 ms
                session_dir.write(MANUAL_FILE, b"")
            except OSError:
                pass  # without it the transcripts alone decide
        return False
    mark = f"{session_dir.path}/{MANUAL_FILE}"
    if payload.event == "SessionStart" and exists(mark):
        remove(mark)
        return False
    return must_be_subagent_compaction(payload.transcript_path)


HOOKS = ClaudeCodeHooks()
