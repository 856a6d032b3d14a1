import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { SupervisedServer } from '../supervised-server.ts'

/**
 * Runs a server until standard input closes, then stops it and removes its folder. The pipe closes when the parent
 * process ends in any way, also by SIGKILL, so the server never outlives it.
 */
const KILL_AFTER_MS = 5_000

const { program, args, folder, user } = JSON.parse(process.argv[2] ?? '') as SupervisedServer
const server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: folder, ...user })

// SIGINT is the fast, orderly shutdown of both Postgres and Redis.
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
