import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server that `commands/supervisor.ts` runs. */
export interface SupervisedServer {
  readonly program: string
  readonly args: readonly string[]
  /** The server's data; removed when the server ends. */
  readonly folder: string
  /** The user it runs as, when that is not the current one. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

export interface RunningProcess {
  readonly exited: Promise<unknown>
  stop(): Promise<void>
}

const SUPERVISOR = fileURLToPath(new URL('./commands/supervisor.ts', import.meta.url))

/** Starts a server that cannot outlive this process. Undefined when it ended before it printed `ready`. */
export async function startSupervised(
  server: SupervisedServer,
  ready: string,
): Promise<RunningProcess | undefined> {
  const supervisor = spawn(process.execPath, [SUPERVISOR, JSON.stringify(server)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // In a separate session Ctrl-C does not reach the server; this process stops the servers in order.
    detached: true,
  })
  const exited = once(supervisor, 'exit')
  let output = ''
  const isReady = await new Promise<boolean>((resolve) => {
    const append = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-2_000)
      if (output.includes(ready)) resolve(true)
    }
    supervisor.stdout.on('data', append)
    supervisor.stderr.on('data', append)
    exited.then(
      () => resolve(false),
      () => resolve(false),
    )
  })
  if (!isReady) return undefined
  return {
    exited,
    stop: async () => {
      supervisor.stdin.end()
      await exited
    },
  }
}
