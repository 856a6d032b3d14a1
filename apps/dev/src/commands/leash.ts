import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Leashed } from '../leash.ts'

/**
 * Runs a server until standard input closes, then stops it and removes its folder. The pipe closes however its
 * holder ends, even by SIGKILL, so the server never outlives it.
 */
const KILL_AFTER_MS = 5_000

const { program, args, folder, user } = JSON.parse(process.argv[2] ?? '') as Leashed
const server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: folder, ...user })

// To Postgres an interrupt means: end now, and in order. To Redis it means the same.
const stop = () => {
  server.kill('SIGINT')
  setTimeout(() => server.kill('SIGKILL'), KILL_AFTER_MS).unref()
}
process.stdin.once('close', stop).resume()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)

const code = await once(server, 'exit').then(
  ([status]) => status as number | null,
  () => null,
)
rmSync(folder, { recursive: true, force: true })
process.exit(code ?? 1)
