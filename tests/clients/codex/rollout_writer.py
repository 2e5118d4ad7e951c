"""Writes rollouts in the shape of 0.166 (by hand; `recorded/` has what the client wrote)."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

THREAD = "01a1e57e-0000-7000-8000-000000000001"
PREAMBLE = (
    "Another language model started to solve this problem and produced a summary of its thinking "
    "process. Here is the summary produced by the other language model, use the information in "
    "this summary to assist with your own analysis:\n"
)


class RolloutSession:
    """Fulfils `support.client_conformance.SessionWriter`."""

    def __init__(self, folder: Path, thread: str = THREAD) -> None:
        self.home = folder / ".codex"
        self.thread = thread
        self._numbers = itertools.count(1 if thread == THREAD else 1000)
        self._ordinal = 0
        self._turn = ""
        self._tokens = 0
        self._before_prompt: tuple[str, int, int] = (thread, 0, 0)
        self._lines: list[str] = []
        self._file = thread
        self.path = str(self._place(f"rollout-2026-11-16T10-00-00-{thread}.jsonl"))
        self._begin()

    # ---- what the suite asks for

    def prompt(self, text: str) -> None:
        size = os.path.getsize(self.path)
        self._before_prompt = (self._file, self._ordinal, size)
        self._step()
        self._turn = self._id()
        self._event("task_started", turn_id=self._turn, model_context_window=258_400)
        self._row("turn_context", turn_id=self._turn, cwd="/shop", model="gpt-5.5")
        self._message("user", text, "user.text", {"type": "user"})
        self._item("UserMessage", self._id(), content=[{"type": "text", "text": text}])

    def insert(self) -> None:
        self._step()
        note = '{"agent_path":"01a1","status":"shutdown"}'
        self._message(
            "user",
            f"<subagent_notification>\n{note}\n</subagent_notification>",
            "multi_agent.subagent_notification",
            {"type": "tool"},
        )

    def place(self, text: str) -> None:
        self._step()
        kind = "hooks.additional_context"
        self._message("developer", text, kind, {"type": "harness", "hook": True})
        self._message("user", text, kind, {"type": "harness", "hook": True})

    def answer(self, text: str, *, context: int = 0) -> None:
        self._step()
        id_ = f"msg_{self._id()}"
        self._item("AgentMessage", id_, content=[{"type": "Text", "text": text}])
        self._row(
            "response_item",
            type="message",
            id=id_,
            role="assistant",
            content=[{"type": "output_text", "text": text}],
        )
        if context:
            self._usage(context)

    def run(self, command: str, output: str) -> None:
        self._step()
        self.call_command(command, output)

    def call_command(self, command: str, output: str, code: int = 0) -> None:
        call = f"call_{self._id()}"
        asked = json.dumps({"cmd": command})
        self._row(
            "response_item",
            type="function_call",
            id=f"fc_{self._id()}",
            name="exec_command",
            arguments=asked,
            call_id=call,
        )
        self._item(
            "CommandExecution",
            call,
            command=["/bin/bash", "-lc", command],
            cwd="file:///shop",
            parsed_cmd=[{"type": "unknown", "cmd": command}],
            status="failed" if code else "completed",
            aggregated_output=output,
            exit_code=code,
        )
        said = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        self._row("response_item", type="function_call_output", call_id=call, output=said)

    def rewind(self, text: str) -> None:
        file, ordinal, end = self._before_prompt
        self._file = self._id()
        name = f"rollout-2026-11-16T10-00-00-{self.thread}_{self._file}.jsonl"
        self.path = str(self._place(name))
        self._ordinal = ordinal
        base = {"thread_id": file, "end_ordinal_exclusive": ordinal, "end_byte_offset": end}
        self._begin(history_base=base)
        self.prompt(text)

    def compact(self, summary: str | None) -> None:
        self._step()
        kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "k"}]}
        last: dict[str, Any] = {"type": "compaction", "encrypted_content": "gAAAA"}
        if summary is not None:
            content = [{"type": "output_text", "text": summary}]
            self._row(
                "response_item",
                metadata={"compaction_output": True},
                type="message",
                role="assistant",
                id=f"msg_{self._id()}",
                content=content,
            )
            framed = [{"type": "input_text", "text": PREAMBLE + summary}]
            last = {"type": "message", "role": "user", "content": framed}
        self._row(
            "compacted",
            message="" if summary is None else PREAMBLE + summary,
            replacement_history=[kept, last],
            window_id=self._id(),
        )
        self._item("ContextCompaction", self._id())

    def reset_window(self) -> None:
        """What a compaction is with `features.token_budget`."""
        self._step()
        start = {"type": "message", "role": "developer", "content": []}
        self._row("compacted", message="", replacement_history=[start], window_id=self._id())

    def repeat(self) -> None:
        self._write("".join(self._lines))

    def move(self) -> None:
        elsewhere = self.home / "archived_sessions" / os.path.basename(self.path)
        elsewhere.parent.mkdir(exist_ok=True)
        os.rename(self.path, elsewhere)
        self.path = str(elsewhere)

    # ---- rows

    def usage_row(self, context: int) -> None:
        self._usage(context)

    def _usage(self, context: int) -> None:
        self._tokens += context
        last = {"input_tokens": context - 20, "output_tokens": 20, "total_tokens": context}
        info = {
            "total_token_usage": {"total_tokens": self._tokens},
            "last_token_usage": last,
            "model_context_window": 258_400,
        }
        self._event("token_count", info=info)

    def _begin(self, **more: Any) -> None:
        self._step()
        self._row(
            "session_meta",
            session_id=self.thread,
            id=self.thread,
            cwd="/shop",
            cli_version="0.166.0",
            source="exec",
            thread_source="user",
            history_mode="paginated",
            **more,
        )

    def _message(self, role: str, text: str, kind: str, provenance: dict[str, Any]) -> None:
        told = {"content_item_kinds": [kind], "content_item_metadata": [{"provenance": provenance}]}
        self._row(
            "response_item",
            type="message",
            id=f"msg_{self._id()}",
            role=role,
            content=[{"type": "input_text", "text": text}],
            internal_chat_message_metadata_passthrough=told,
        )

    def _item(self, kind: str, id_: str, **more: Any) -> None:
        item = {"type": kind, "id": id_, **more}
        self._event("item_completed", thread_id=self.thread, turn_id=self._turn, item=item)

    def _event(self, kind: str, **more: Any) -> None:
        self._row("event_msg", type=kind, **more)

    def _row(self, kind: str, metadata: dict[str, Any] | None = None, **payload: Any) -> None:
        number = next(self._numbers)
        row: dict[str, Any] = {
            "timestamp": f"2026-11-16T10:{number // 60:02d}:{number % 60:02d}.000Z",
            "ordinal": self._ordinal,
            "type": kind,
            "payload": payload,
        }
        if metadata is not None:
            row["metadata"] = metadata
        self._ordinal += 1
        line = json.dumps(row, separators=(",", ":")) + "\n"
        self._lines.append(line)
        self._write(line)

    def _step(self) -> None:
        self._lines = []

    def _id(self) -> str:
        return f"01a1e57e-{next(self._numbers):04x}-7000-8000-{next(self._numbers):012x}"

    def _place(self, name: str) -> Path:
        folder = self.home / "sessions" / "2026" / "11" / "16"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    def _write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)
