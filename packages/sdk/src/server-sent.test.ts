import { expect, test } from 'vitest'
import { readMessages, type ServerMessage } from './server-sent.ts'

const LONG_MS = 60_000

/** A response whose body comes in these pieces and stays open or ends. */
const responseOf = (pieces: readonly Uint8Array[], ends = true) =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(piece)
        if (ends) controller.close()
      },
    }),
  )

async function all(response: Response, silenceMs = LONG_MS): Promise<ServerMessage[]> {
  const messages: ServerMessage[] = []
  for await (const message of readMessages(response, silenceMs)) messages.push(message)
  return messages
}

const TEXT =
  'retry: 2000\n\nid: 1\nevent: a\ndata: {"x":"ö"}\n\n: keep-alive\n\nid: 2\ndata: one\ndata: two\n\nid: 3\ndata: cut'
const EXPECTED = [{ id: '1', data: '{"x":"ö"}' }, {}, { id: '2', data: 'one\ntwo' }]

test.each([
  ['LF', TEXT],
  ['CR LF', TEXT.replaceAll('\n', '\r\n')],
])('reads messages and comments with %s, and not a message that is cut off', async (_, text) => {
  expect(await all(responseOf([new TextEncoder().encode(text)]))).toEqual(EXPECTED)
})

test('reads the same when every byte comes alone', async () => {
  const bytes = [...new TextEncoder().encode(TEXT)].map((byte) => Uint8Array.of(byte))
  expect(await all(responseOf(bytes))).toEqual(EXPECTED)
})

test('throws when nothing comes for too long', async () => {
  await expect(all(responseOf([], false), 5)).rejects.toThrow('Nothing came')
})

const MEBIBYTE = 1_048_576
const repeat = (text: string, count: number) =>
  Array.from({ length: count }, () => new TextEncoder().encode(text))

test('reads a message of a mebibyte that comes in small chunks', async () => {
  const chunks = [...repeat('data: ', 1), ...repeat('x'.repeat(64), 16_000), ...repeat('\n\n', 1)]
  expect((await all(responseOf(chunks))).map(({ data }) => data?.length)).toEqual([1_024_000])
})

test.each([
  ['that has no end', repeat('x'.repeat(65_536), 18)],
  ['in one chunk', repeat(`data: ${'x'.repeat(MEBIBYTE)}\n\n`, 1)],
])('throws at a message of more than a mebibyte %s', async (_, chunks) => {
  await expect(all(responseOf(chunks, false))).rejects.toMatchObject({ code: 'bad_response' })
})
