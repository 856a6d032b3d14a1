import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly items?: readonly unknown[] }
  readonly result?: { readonly contents?: { readonly value?: string } }
}

/** What an editor shows for each word of a program: the language server of TypeScript is asked. */
export async function hoversOf(
  tsc: string,
  file: string,
  words: readonly string[],
): Promise<Record<string, string>> {
  const server = spawn(tsc, ['--lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(server, 'close')
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const waiting = new Map<number, (message: Message) => void>()
  onMessages(server.stdout, (message) => {
    if (message.id === undefined) return
    // A question of the server: no client setting differs from its default.
    if (message.method !== undefined)
      send({ id: message.id, result: message.params?.items?.map(() => null) ?? null })
    else waiting.get(message.id)?.(message)
  })
  let id = 0
  const ask = (method: string, params: object) =>
    new Promise<Message>((resolve) => {
      id++
      waiting.set(id, resolve)
      send({ id, method, params })
    })
  const text = readFileSync(file, 'utf8')
  const textDocument = { uri: pathToFileURL(file).href }
  const capabilities = { textDocument: { hover: { contentFormat: ['markdown'] } } }
  await ask('initialize', { processId: null, rootUri: null, capabilities })
  send({ method: 'initialized', params: {} })
  send({
    method: 'textDocument/didOpen',
    params: { textDocument: { ...textDocument, languageId: 'typescript', version: 1, text } },
  })
  const shown: Record<string, string> = {}
  for (const word of words) {
    const before = text.slice(0, text.indexOf(word)).split('\n')
    const position = { line: before.length - 1, character: (before.at(-1)?.length ?? 0) + 1 }
    const { result } = await ask('textDocument/hover', { textDocument, position })
    shown[word] = result?.contents?.value ?? ''
  }
  server.kill()
  await ended
  return shown
}

/** Reads messages of the form `Content-Length: n`, an empty line, n bytes of JSON. */
function onMessages(stream: NodeJS.ReadableStream, take: (message: Message) => void): void {
  let bytes = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      const size = Number(/Content-Length: (\d+)/i.exec(bytes.subarray(0, Math.max(end, 0)).toString())?.[1])
      if (end === -1 || bytes.length < end + 4 + size) return
      const body = bytes.subarray(end + 4, end + 4 + size).toString()
      bytes = bytes.subarray(end + 4 + size)
      take(JSON.parse(body) as Message)
    }
  })
}
