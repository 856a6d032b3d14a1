import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

export interface Result {
  readonly status: number | null
  readonly out: string
  readonly error: string
}

const ERASE_LINE = `\r${String.fromCharCode(27)}[K`

/** What is left on the screen of a terminal: an erased line counts from its last erasure on. */
const screenOf = (output: string): string =>
  output
    .split(/\r?\n/)
    .map((line) => (line.split(ERASE_LINE).at(-1) ?? '').trimEnd())
    .filter((line) => line !== '')
    .join('\n')

/** What a process has written so far. */
function outputOf({ stdout, stderr }: ChildProcessWithoutNullStreams) {
  const said = { out: '', error: '' }
  stdout.on('data', (chunk) => {
    said.out += chunk
  })
  stderr.on('data', (chunk) => {
    said.error += chunk
  })
  return said
}

/** The program of one user, with settings of its own. */
export function cliOf(environment: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'cli-program-'))
  const base = { ...CHILD_ENVIRONMENT, XDG_CONFIG_HOME: folder, ...environment }
  /** Starts it and does not wait for its end. */
  const start = (args: readonly string[], input = '', more: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...base, ...more } })
    const said = outputOf(child)
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const ended = once(child, 'close').then(([status]): Result => ({ status, ...said }))
    return { child, said, ended }
  }
  const run = (args: readonly string[], input?: string, more?: Readonly<Record<string, string>>) =>
    start(args, input, more).ended
  return {
    folder,
    file: join(folder, 'agent-market', 'cli.json'),
    start,
    run,
    /** Starts it in a shell, as `market`. In a pseudo-terminal, whose output and keys are those of `script`. */
    startShell: (script: string, { inTerminal = false } = {}) => {
      const market = `market() { '${process.execPath}' '${MAIN}' "$@"; }`
      const bash = ['bash', '--norc', '-c', `${market}; ${script}`]
      const [program = '', ...args] = inTerminal
        ? ['script', '-qec', bash.map(quote).join(' '), '/dev/null']
        : bash
      const child = spawn(program, args, { env: { ...base, SHELL: '/bin/sh', TERM: 'xterm' } })
      const said = outputOf(child)
      const ended = once(child, 'close').then(([status]) => ({
        status: status as number | null,
        ...said,
        screen: screenOf(said.out),
      }))
      return { child, said, ended, press: (keys: string) => child.stdin.write(keys) }
    },
    /** The JSON document of a command that succeeds. */
    json: async (...args: string[]) => {
      const { status, out, error } = await run([...args, '--json'])
      if (status !== 0) throw new Error(`market ${args.join(' ')} ended with ${status}: ${error}`)
      return JSON.parse(out)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A server of this process. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A local server that records what is forwarded to it. */
export async function startHook() {
  const calls: { readonly headers: Record<string, string>; readonly body: Buffer }[] = []
  const { url, stop } = await startServer(async (request, response) => {
    const body = await buffer(request)
    calls.push({ headers: request.headers as Record<string, string>, body })
    response.writeHead(204).end()
  })
  return { url: `${url}/hook`, calls, stop }
}
