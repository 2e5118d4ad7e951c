// Holdfast in OpenCode or a fork of it. Put here by `holdfast install --client NAME`, taken out by
// `holdfast uninstall --client NAME`; what is changed by hand is set back by the next install.
//
// Hands the session's messages to Holdfast's own process and puts into a request what that answers.
// A throw in a hook would end the user's turn, and so would a wait without an end: every hook is
// guarded, every wait has a limit, and where Holdfast is gone or broken nothing happens at all.

import { spawn } from "node:child_process"

const CLIENT = "opencode"
const COMMAND = []
const RECALL = []

// Milliseconds. The first three are on the user's clock, the next two end a process that hangs.
const PROMPT_WAIT = 1500
const COMPACTION_WAIT = 4000
const FETCH_WAIT = 1500
const PROCESS_LIMIT = 12000
const BACKGROUND_LIMIT = 60000
const TOOL_WAIT = 500 // once a tool has run, for what is to be said of its call
const DELAY = 250 // before work is handed over, so that one process takes several messages
const MAX_ANSWER = 1 << 20
const MAX_ROWS_CHARS = 8 << 20 // of one call
const MAX_QUERY = 8000 // characters of a prompt that recall is asked with
const LATEST = 30 // messages that are looked at where the earlier ones are known
const OUTPUT_TOKENS = 32000 // what the client allows an answer where the model says more
const RESERVED_TOKENS = 20000
// Not handed over: long, or said elsewhere in the row.
const DROPPED = new Set(
  "before after preview display diagnostics snapshot filediff messageID sessionID cost".split(" "),
)
// Tools whose calls rules of the user are checked against, and what is looked at.
const WATCHED = new Set(["bash", "edit", "write", "patch", "multiedit", "apply_patch"])
const CALL_FIELDS = ["command", "filePath", "patchText"]
const PARTS = new Set(["text", "tool", "compaction", "subtask", "file", "patch"])

const sleep = (ms) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    if (timer.unref) timer.unref()
  })
const within = (promise, ms) => Promise.race([promise, sleep(ms).then(() => null)])

// A hook that answers nothing whatever happens in it.
const guarded = (name, fired, work) => async (input, output) => {
  try {
    fired.add(name)
    await work(input, output)
  } catch {}
}

// One call of Holdfast. Resolves to what it answered, `kept` as soon as the rows are on disk.
function call(event, payload, cwd, onKept) {
  return new Promise((resolve) => {
    let child
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), CLIENT + ":" + event], {
        cwd,
        env: { ...process.env, HOLDFAST_CLIENT_PID: String(process.pid) },
        stdio: ["pipe", "pipe", "ignore"],
        detached: true, // the terminal's interrupt is for the client
        windowsHide: true,
      })
    } catch {
      return resolve(null)
    }
    let said = ""
    const limit = event === "Stop" ? BACKGROUND_LIMIT : PROCESS_LIMIT
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    if (timer.unref) timer.unref()
    const done = () => {
      clearTimeout(timer)
      resolve(parse(said.slice(said.indexOf("\n") + 1)))
    }
    child.on("error", () => {
      clearTimeout(timer)
      resolve(null)
    })
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.on("error", () => {})
    child.stdout.on("data", (piece) => {
      if (said.length < MAX_ANSWER) said += piece
      if (onKept && said.includes("\n")) {
        const kept = parse(said.slice(0, said.indexOf("\n")))
        if (kept && kept.kept >= 0) onKept()
        onKept = null
      }
    })
    child.stdin.end(JSON.stringify(payload))
    child.unref()
  })
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

// It stands in the user's own message: whose words they are has to be seen from the text.
const tag = (text) => `<holdfast>\n${text}\n</holdfast>`
const readText = (answer, name) => (typeof answer?.[name] === "string" ? answer[name] : "")

const readWords = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")
    .slice(0, MAX_QUERY)

// What is handed over of a message.
function toRow(message, more, said) {
  const { info } = message
  const parts = message.parts
    .filter((part) => PARTS.has(part.type))
    .map((part) => withoutOwnWords(part, said))
  const about = { ...info, summary: info.summary === true, system: undefined, tools: undefined }
  const row = { type: "message", row: info.id, ...more, info: about, parts }
  return parse(JSON.stringify(row, slim))
}

// What was added to a tool's output is none of it.
function withoutOwnWords(part, said) {
  const text = said?.get(part.callID)
  const output = part.state?.output
  if (!text || typeof output !== "string" || !output.endsWith(text)) return part
  return { ...part, state: { ...part.state, output: output.slice(0, -text.length) } }
}

function slim(key, value) {
  if (DROPPED.has(key)) return undefined
  if (key === "url" && typeof value === "string" && value.startsWith("data:")) return undefined
  if (key === "metadata" && value?.output) return { ...value, output: undefined }
  return value
}

const isFinished = (info) => info.role === "user" || !!info.time?.completed || !!info.error
const isSummary = ({ info }) =>
  info.role === "assistant" && info.summary === true && !!info.finish && !info.error
const isCompaction = ({ parts }) => parts.some((part) => part.type === "compaction")
const isOlder = (one, two) => (one.info?.time?.created ?? 0) - (two.info?.time?.created ?? 0)

// Where the client compacts, by its own rule.
function usableTokens(model, config) {
  const limit = model?.limit
  if (!limit?.context) return 0
  const output = Math.min(limit.output || OUTPUT_TOKENS, OUTPUT_TOKENS)
  const reserved = config?.compaction?.reserved ?? Math.min(RESERVED_TOKENS, output)
  return Math.max(0, limit.input ? limit.input - reserved : limit.context - output)
}

export const Holdfast = async ({ client, directory }) => {
  const sessions = new Map()
  const fired = new Set()
  let config = {}
  let isSlow = false // the last call that somebody waited for took too long

  function find(id) {
    let session = sessions.get(id)
    if (!session) {
      session = { id, info: null, told: new Set(), queue: [], parts: new Map(), isFresh: true }
      Object.assign(session, { calls: new Map(), said: new Map() })
      sessions.set(id, session)
    }
    return session
  }

  async function learn(session) {
    if (!session.info) {
      const got = await within(client.session.get({ path: { id: session.id } }), FETCH_WAIT)
      session.info = got?.data ?? null
      if (session.info) noteTitle(session)
    }
    return session.info
  }

  // The session that a subagent works for; null where that cannot be told, so that nothing is.
  async function findRoot(session) {
    for (let depth = 0; depth < 10; depth++) {
      const info = await learn(session)
      if (!info) return null
      if (!info.parentID) return session
      session = find(info.parentID)
    }
    return null
  }

  function enqueue(root, message, agent, more) {
    const { info } = message
    if (!info?.id || root.told.has(info.id)) return
    root.told.add(info.id)
    const window = usableTokens(root.model, config)
    const about = { ...(agent && { agent }), ...(window && { window }), ...more }
    root.queue.push(toRow(message, about, find(info.sessionID).said))
  }

  function noteTitle(session) {
    const { title, parentID } = session.info
    if (!title || parentID || title === session.title || /^New session - /.test(title)) return
    session.title = title
    const info = { time: { created: Date.now() } }
    session.queue.push({ type: "title", row: "title-" + title, title, info })
  }

  // Messages of the session as the client holds them: all of them at first sight of it.
  async function fetchMessages(session) {
    const query = session.isFetched ? { limit: LATEST } : {}
    const got = await within(client.session.messages({ path: { id: session.id }, query }), FETCH_WAIT)
    if (!got?.data) return []
    session.isFetched = true
    enqueueAll(session, got.data)
    return got.data
  }

  function enqueueAll(session, messages) {
    const sorted = [...messages].sort(isOlder)
    const asked = new Set(sorted.filter(isSummary).map(({ info }) => info.parentID))
    sorted.forEach((message, place) => {
      const { info } = message
      // A compaction is told once its summary is there; one that failed is none.
      if (info.summary === true ? !isSummary(message) : isCompaction(message) && !asked.has(info.id))
        return
      // One that was never finished has others behind it.
      if (isFinished(info) || place < sorted.length - 2) enqueue(session, message)
    })
  }

  // One at a time, and in order: the next begins when the rows of this one are on disk.
  async function send(event, session, more = {}) {
    const before = session.sending ?? Promise.resolve()
    let release
    session.sending = new Promise((resolve) => (release = resolve))
    try {
      await within(before, COMPACTION_WAIT)
      return await sendNow(event, session, more, release)
    } catch {
      return null
    } finally {
      release()
    }
  }

  async function sendNow(event, session, more, release) {
    const rows = takeRows(session)
    const payload = {
      session_id: session.id,
      cwd: session.info?.directory || directory,
      version: session.info?.version || "",
      title: session.info?.title || "",
      hooks: [...fired],
      is_fresh: session.isFresh,
      rows,
      ...more,
    }
    let isKept = false
    const began = Date.now()
    const answer = await call(event, payload, directory, () => {
      isKept = true
      session.isFresh = session.isFresh && session.queue.length > 0
      release()
    })
    if (!isKept) {
      // Whether they were written is not known: next time Holdfast looks before it writes.
      session.isFresh = true
      session.queue.unshift(...rows)
    }
    if (Date.now() - began < PROMPT_WAIT) isSlow = false
    return isKept ? (answer ?? {}) : null
  }

  function takeRows(session) {
    const sorted = session.queue.sort(isOlder)
    let size = 0
    const rows = []
    while (sorted.length && (size += JSON.stringify(sorted[0]).length) < MAX_ROWS_CHARS)
      rows.push(sorted.shift())
    if (!rows.length && sorted.length) sorted.shift() // no call could carry it
    return rows
  }

  function sendLater(session, ms) {
    if (session.timer) return // not put off by more work: a turn may take hours
    session.timer = setTimeout(() => sendQueue(session), ms)
    if (session.timer.unref) session.timer.unref()
  }

  async function sendQueue(session, isLast = false) {
    try {
      clearTimeout(session.timer)
      session.timer = null
      // The client may be ended right behind the last one: it does not wait for those before.
      if (!session.queue.length || (session.isSendingQueue && !isLast)) return
      session.isSendingQueue = true
      const answer = await send("Stop", session)
      session.isSendingQueue = false
      if (answer && session.queue.length) sendLater(session, DELAY)
    } catch {
      session.isSendingQueue = false
    }
  }

  // On the user's clock. After one that took too long nobody waits, until one is quick again.
  async function waitFor(answer, ms) {
    let isDone = false
    answer.then(() => (isDone = true))
    const got = await within(answer, isSlow ? 0 : ms)
    if (!isDone) isSlow = true
    return got
  }

  const events = {
    "session.created": ({ info }) => {
      find(info.id).info = info
    },
    "session.updated": ({ info }) => {
      const session = find(info.id)
      session.info = { ...session.info, ...info }
      noteTitle(session)
    },
    "session.deleted": ({ info }) => sessions.delete(info.id),
    "message.part.updated": ({ part }) => {
      const { parts } = find(part.sessionID)
      if (!parts.has(part.messageID)) parts.set(part.messageID, new Map())
      parts.get(part.messageID).set(part.id, part)
    },
    "message.updated": async ({ info }) => {
      const session = find(info.sessionID)
      if (info.role !== "assistant") return
      if (!isFinished(info) || session.told.has(info.id)) return
      const parts = [...(session.parts.get(info.id)?.values() ?? [])]
      session.parts.delete(info.id)
      // A summary waits for the message that asked for it: both come with the next request. A fork
      // tells of its copies before it tells of their parts: they come with the next prompt.
      if (info.summary === true || !parts.length) return
      const root = await findRoot(session)
      if (!root) return
      enqueue(root, { info, parts }, root === session ? "" : session.id)
      sendLater(root, DELAY)
    },
    "message.removed": ({ sessionID, messageID }) => {
      const session = find(sessionID)
      session.parts.delete(messageID)
      session.queue = session.queue.filter((row) => row.row !== messageID)
      const info = { time: { created: Date.now() } }
      session.queue.push({ type: "removed", row: "removed-" + messageID, id: messageID, info })
    },
    "session.compacted": async ({ sessionID }) => {
      fired.add("session.compacted")
      const session = find(sessionID)
      if ((await findRoot(session)) !== session) return
      await fetchMessages(session)
      sendLater(session, DELAY)
    },
    "session.idle": async ({ sessionID }) => {
      const session = find(sessionID)
      session.parts.clear()
      if ((await findRoot(session)) === session) await sendQueue(session, true)
    },
  }

  async function onPrompt({ sessionID }, output) {
    const session = find(sessionID)
    if ((await findRoot(session)) !== session) return
    // A fork is created with messages in it.
    const isFirst = !(await fetchMessages(session)).length && !session.told.size
    const command = session.command
    session.command = null
    enqueue(session, { info: output.message, parts: output.parts }, "", command && { command })
    const [event, source] = isFirst ? ["SessionStart", "startup"] : ["UserPromptSubmit", ""]
    const query = readWords(output.parts)
    const asking = send(event, session, { source, query })
    const answer = await waitFor(asking, PROMPT_WAIT)
    if (readText(answer, "message")) show(answer.message)
    const text = readText(answer, "text") || session.late
    session.late = ""
    // What comes too late for this prompt goes with the next.
    if (!answer) asking.then((found) => (session.late = readText(found, "text")))
    if (!text) return
    const last = output.parts.at(-1)
    // The client keeps it with the prompt, out of the user's sight.
    output.parts.push({
      id: (last?.id ?? "prt_") + "h",
      sessionID,
      messageID: output.message.id,
      type: "text",
      text: tag(text),
      synthetic: true,
    })
  }

  async function show(message) {
    try {
      await client.tui.showToast({ body: { title: "Holdfast", message, variant: "info" } })
    } catch {}
  }

  async function onCompacting({ sessionID }, output) {
    const session = find(sessionID)
    try {
      if ((await findRoot(session)) !== session) return
      const asking = (await fetchMessages(session)).filter(isCompaction).sort(isOlder).at(-1)
      const isAuto = asking?.parts.find((part) => part.type === "compaction").auto
      const more = { trigger: isAuto === false ? "manual" : "auto" }
      const answer = await waitFor(send("PreCompact", session, more), COMPACTION_WAIT)
      const text = readText(answer, "text")
      if (text) output.context.push(text)
    } finally {
      session.isSummarised = true // the next request of this session is the summary's own
    }
  }

  async function onRequest(_, { messages }) {
    const id = messages[0]?.info?.sessionID
    if (!id) return
    const session = find(id)
    if (session.isSummarised) {
      session.isSummarised = false
      return
    }
    const summary = messages.filter(isSummary).sort(isOlder).at(-1)
    if ((await findRoot(session)) !== session) return
    enqueueAll(session, messages)
    if (!summary) return
    const text = await findBrief(session, summary.info.id)
    const first = messages.slice(messages.indexOf(summary)).find(({ info }) => info.role === "user")
    if (!text || !first) return
    // Behind the summary and not at the end, so that the next request begins as this one did.
    first.parts.push({
      id: "prt_holdfast",
      sessionID: id,
      messageID: first.info.id,
      type: "text",
      text: tag(text),
      synthetic: true,
    })
  }

  // Asked while the tool runs, so that nobody waits for it; its words come behind the output.
  async function onToolStart({ tool, sessionID, callID }, { args }) {
    const session = find(sessionID)
    if (!WATCHED.has(tool) || (await findRoot(session)) !== session) return
    const given = CALL_FIELDS.filter((name) => typeof args?.[name] === "string")
    const input = Object.fromEntries(given.map((name) => [name, args[name].slice(0, MAX_QUERY)]))
    const asking = send("PreToolUse", session, { tool_name: tool, tool_input: input })
    session.calls.set(callID, asking)
  }

  async function onToolEnd({ sessionID, callID }, output) {
    const session = find(sessionID)
    const asking = session.calls.get(callID)
    session.calls.delete(callID)
    const words = asking && readText(await within(asking, TOOL_WAIT), "text")
    if (!words || typeof output?.output !== "string") return
    const text = "\n\n" + words
    session.said.set(callID, text)
    output.output += text
  }

  // What stands in every request until the next compaction; asked for once.
  async function findBrief(session, summary) {
    if (session.brief?.summary !== summary) session.brief = askForBrief(session, summary)
    const { brief } = session
    if (!brief.isWaited) await waitFor(brief.answer, COMPACTION_WAIT)
    brief.isWaited = true // one that comes later stands in the requests that come later
    return brief.text
  }

  function askForBrief(session, summary) {
    const brief = { summary, text: "" }
    brief.answer = (async () => {
      if (!session.isFetched) await fetchMessages(session)
      const answer = await send("SessionStart", session, { source: "request", prompt_id: summary })
      brief.text = readText(answer, "text")
      if (answer) send("PostCompact", session).catch(() => {})
      else session.brief = null // to be asked again
      return answer
    })().catch(() => null)
    return brief
  }

  const hook = (name, work) => [name, guarded(name, fired, work)]
  return Object.fromEntries([
    hook("event", async ({ event }) => events[event.type]?.(event.properties)),
    hook("config", async (input) => {
      config = input
      if (RECALL.length && !input.mcp?.holdfast)
        input.mcp = { ...input.mcp, holdfast: { type: "local", command: RECALL, enabled: true } }
    }),
    hook("command.execute.before", async ({ command, sessionID, arguments: words }) => {
      find(sessionID).command = { name: command, arguments: words }
    }),
    hook("chat.message", onPrompt),
    hook("chat.params", async ({ sessionID, model }) => {
      find(sessionID).model = model
    }),
    hook("shell.env", async ({ sessionID }, output) => {
      if (sessionID) output.env[`HOLDFAST_${CLIENT.toUpperCase()}_SESSION`] = sessionID
    }),
    hook("tool.execute.before", onToolStart),
    hook("tool.execute.after", onToolEnd),
    hook("experimental.session.compacting", onCompacting),
    hook("experimental.chat.messages.transform", onRequest),
  ])
}
