import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server to be run by `commands/leash.ts`. */
export interface Leashed {
  readonly program: string
  readonly args: readonly string[]
  /** Its data; removed when it ends. */
  readonly folder: string
  /** Whom it runs as, when that is not us. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

export interface Running {
  readonly exited: Promise<unknown>
  stop(): Promise<void>
}

const LEASH = fileURLToPath(new URL('./commands/leash.ts', import.meta.url))

/** Starts a server that cannot outlive this process. Undefined when it ended before it said `ready`. */
export async function startLeashed(server: Leashed, ready: string): Promise<Running | undefined> {
  const leash = spawn(process.execPath, [LEASH, JSON.stringify(server)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A session of its own: Ctrl-C in the terminal is for us, and we stop the servers in order.
    detached: true,
  })
  const exited = once(leash, 'exit')
  let said = ''
  const isReady = await new Promise<boolean>((resolve) => {
    const listen = (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000)
      if (said.includes(ready)) resolve(true)
    }
    leash.stdout.on('data', listen)
    leash.stderr.on('data', listen)
    exited.then(
      () => resolve(false),
      () => resolve(false),
    )
  })
  if (!isReady) return undefined
  return {
    exited,
    stop: async () => {
      leash.stdin.end()
      await exited
    },
  }
}
