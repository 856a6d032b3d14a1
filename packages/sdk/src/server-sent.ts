/** One message of a stream of server-sent events. A comment has neither field. */
export interface ServerMessage {
  readonly id?: string
  readonly data?: string
}

/** Reads the messages and comments of a stream. Ends with it, and throws when nothing comes for `silenceMs`. */
export async function* readMessages(
  response: Response,
  silenceMs: number,
): AsyncGenerator<ServerMessage, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs)
      if (done) return
      text += decoder.decode(value, { stream: true })
      // A message ends with an empty line. A CR at the end can be the first half of a line break.
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r(?!$)/)
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const message = messageOf(block)
        if (message !== undefined) yield message
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The fields of one block; undefined for `retry` alone, which says nothing about the connection. */
function messageOf(block: string): ServerMessage | undefined {
  const lines = block.split(/\r\n|\n|\r/)
  const valuesOf = (name: string) =>
    lines.flatMap((line) => {
      const [, value] = new RegExp(`^${name}(?:: ?(.*))?$`, 's').exec(line) ?? []
      return value === undefined ? [] : [value]
    })
  const id = valuesOf('id').at(-1)
  const data = valuesOf('data')
  if (data.length > 0) return { data: data.join('\n'), ...(id !== undefined && { id }) }
  return lines.some((line) => line.startsWith(':')) ? {} : undefined
}

async function withinSilence<Value>(reading: Promise<Value>, silenceMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came for ${silenceMs / 1_000} seconds.`)), silenceMs)
  })
  try {
    return await Promise.race([reading, silence])
  } finally {
    clearTimeout(timer)
  }
}
