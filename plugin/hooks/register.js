/**
 * Holdfast inside the compaction. The client calls `session.compact` here; what to place or keep
 * is decided by the Python code that the plugin carries, asked through `$.process.run`.
 *
 * Whatever goes wrong here, the client's own compaction stands: a call of ours that fails, takes
 * too long or answers something else is as if it had not been made.
 */

const WAIT = 3000 // milliseconds that one answer may take
const NEVER = 1e9 // a size that fits no budget
const OPENING = 80 // of a message: enough to know our own texts and the client's
const SHOWN = 10000 // milliseconds that a notice stays

/** One answer of the Python code; an empty object for whatever goes wrong. */
const ask = async ($, what, session, more) => {
  try {
    const id = await $.session.id()
    const question = {
      session_id: id,
      cwd: session.cwd || (await $.session.cwd()),
      transcript: session.id === id ? session.transcript : '',
      ...more,
    }
    const argv = ['/bin/sh', `${$.plugin.root}/bin/holdfast-run`, 'hook', `native-${what}`]
    const ran = await $.process.run(argv, { stdin: JSON.stringify(question), timeoutMs: WAIT })
    const answer = ran.exitCode === 0 && ran.stdout ? JSON.parse(ran.stdout) : {}
    return answer !== null && typeof answer === 'object' ? answer : {}
  } catch (error) {
    $.ui.log(`${what}: ${error}`, { to: 'debug' })
    return {}
  }
}

/** Where the main thread's transcript is: the client says so to classic hooks alone. */
const notice = (session, e) => {
  if (e.agent_id !== undefined || !e.transcript_path) return
  session.id = e.session_id
  session.transcript = e.transcript_path
  session.cwd = e.cwd
}

/** @type {import('claude-code').Register} */
export const register = on => {
  /** Remembered from classic hooks; after /clear it belongs to another session. */
  const session = { id: '', transcript: '', cwd: '' }
  let latch = ''
  let chosen = { mode: '' }

  on('classic.UserPromptSubmit', ($, e, next) => {
    notice(session, e)
    return next(e)
  })

  // What the summary lost, as context that only the model reads. Placed among the messages of the
  // compaction it would look as if the user had typed it, and the kept ones would be shown again.
  on('classic.SessionStart', async ($, e, next) => {
    notice(session, e)
    if (e.source !== 'compact' || e.agent_id !== undefined || latch === '') return next(e)
    // The summary may have taken minutes; the claim made before it must not look abandoned.
    await $.fs.write(latch, 'native\n').catch(() => undefined)
    const started = await next(e)
    const { texts, status } = await ask($, 'augment', session)
    if (!Array.isArray(texts) || !texts.every(text => typeof text === 'string')) return started
    shown($, status)
    return { ...started, additionalContext: [...(started.additionalContext ?? []), ...texts] }
  })

  on('session.start', async ($, e, next) => {
    await $.command
      .register({ name: 'holdfast', description: 'What Holdfast saved and restored' })
      .catch(error => $.ui.log(`/holdfast: ${error}`, { to: 'debug' }))
    const started = await next(e)
    void ask($, 'start', session).then(answer => {
      if (typeof answer.mode === 'string') chosen = answer
    })
    return started
  })

  on('command.run', { command: 'holdfast' }, async $ => {
    const { text } = await ask($, 'status', session)
    return { text: typeof text === 'string' ? text : 'Holdfast could not be asked.' }
  })

  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined) return next(e) // a subagent's own context is not ours
    if (e.trigger === 'precompute') {
      // A summary made ahead is used later, by an automatic compaction, and what it lost is told
      // then. Where none will be used, none is paid for.
      return chosen.mode === 'instant' ? { skip: 'Holdfast compacts without a summary' } : next(e)
    }
    const messages = e.messages.map(briefly)
    const begun = await ask($, 'begin', session, { trigger: e.trigger, messages })
    if (begun.mode === 'instant') {
      const kept = instant(begun, e.messages)
      if (kept !== undefined) {
        shown($, begun.status)
        return { messages: kept }
      }
    }
    if (begun.mode !== 'augment') return next(e)
    latch = typeof begun.latch === 'string' ? begun.latch : ''
    try {
      return await next({ ...e, instructions: joined(e.instructions, begun.steering) })
    } finally {
      latch = ''
    }
  })
}

/** For a moment; the client puts the plugin's name in front. */
const shown = ($, status) => {
  if (typeof status === 'string') $.ui.toast(status, { timeoutMs: SHOWN })
}

/** What the user asked of the summary, and then what we do. */
const joined = (asked, steering) => {
  if (typeof steering !== 'string' || steering === '') return asked
  return asked ? `${asked}\n\n${steering}` : steering
}

/** What the choice of messages needs to know of one. */
const briefly = message => ({
  role: message.role,
  opening: message.text.slice(0, OPENING),
  size: opaque(message) ? NEVER : wording(message).length,
  calls: message.toolUses.map(use => use.tool_use_id),
  answers: (message.toolResults ?? []).map(result => result.tool_use_id),
})

/** Whether a tool answered with something other than text, which cannot be built anew. */
const opaque = message => (message.toolResults ?? []).some(result => result.text === '')

/** Everything a message tells a reader. */
const wording = message =>
  [message.text, ...message.toolUses.map(use => JSON.stringify(use.input)), ...(message.toolResults ?? []).map(result => result.text)].join('\n')

/** The conversation that stands instead of a summary; undefined for an answer that is none. */
const instant = (begun, messages) => {
  if (typeof begun.text !== 'string' || begun.text === '' || !Array.isArray(begun.keep)) return undefined
  const kept = begun.keep.map(place => messages[place])
  if (kept.includes(undefined)) return undefined
  return [{ role: 'user', text: begun.text, toolUses: [] }, ...kept.map(resumable)]
}

/**
 * A kept message as it must be handed back: built anew where its handle would mislead a resume
 * (both seen on 2.1.325). A tool's result is written with its old parent, from before the
 * boundary, and a resume follows that parent into the whole old conversation. A closing answer
 * keeps its old message id, and a resume shows it twice. A message with calls keeps its handle:
 * its thinking must stay.
 */
const resumable = (message, place, all) => {
  const beside = all[place - 1]?.role === message.role || all[place + 1]?.role === message.role
  const answers = message.role === 'assistant' && message.toolUses.length === 0 && !beside
  if (message.toolResults === undefined && !answers) return message
  const { handle, ...rest } = message
  return rest
}
