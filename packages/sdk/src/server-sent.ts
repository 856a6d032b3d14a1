import { MarketError } from './errors.ts'

/** One message of a stream of server-sent events. A comment has neither field. */
export interface ServerMessage {
  readonly id?: string
  readonly data?: string
}

/** No event of the API is longer, in characters. */
const MAX_LENGTH = 1_048_576

/** The end of a message is an empty line. A CR at the end of the text can be the first half of a line break. */
const END = /\r\n\r\n|\n\n|\r\r(?!$)/
/** How much of the text can be the beginning of an END. */
const TAIL = 3

/** Reads the messages and comments of a stream. Ends with it, and throws when nothing comes for `silenceMs` or a message is too long. */
export async function* readMessages(
  response: Response,
  silenceMs: number,
): AsyncGenerator<ServerMessage, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  // The open message: the pieces that have no END, and the last characters, which are searched again with the next chunk.
  let pieces: string[] = []
  let length = 0
  let tail = ''
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs)
      if (done) return
      const parts = (tail + decoder.decode(value, { stream: true })).split(END)
      const open = parts.pop() ?? ''
      for (const part of parts) {
        checkLength(length + part.length)
        const message = messageOf(pieces.join('') + part)
        pieces = []
        length = 0
        if (message !== undefined) yield message
      }
      tail = open.slice(-TAIL)
      pieces.push(open.slice(0, -TAIL))
      length += open.length - tail.length
      checkLength(length)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The error ends the stream for its reader: the same message would come again after each reconnection. */
function checkLength(length: number): void {
  if (length > MAX_LENGTH)
    throw new MarketError(
      `The stream has a message of more than ${MAX_LENGTH} characters, which the API does not send. Check apiUrl.`,
      { status: 200, code: 'bad_response' },
    )
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
