import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { installMulticall3 } from './multicall3.ts'

export interface Anvil {
  readonly url: string
  stop(): Promise<void>
}

/** The anvil package of this platform, or `anvil` from PATH when there is none. */
const anvilBinary = (): string => {
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  try {
    const { resolve } = createRequire(import.meta.url)
    return resolve(`@foundry-rs/anvil-${process.platform}-${machine}/bin/anvil`)
  } catch {
    return 'anvil'
  }
}

/**
 * Starts an EVM node, by default on a free port, that mines a block per transaction. `safe` is one epoch behind the newest block and
 * `finalized` two. An epoch has 32 slots by default. Multicall3 is at its address.
 */
export const startAnvil = async ({
  chainId,
  slotsInAnEpoch = 32,
  port = 0,
}: {
  readonly chainId: number
  readonly slotsInAnEpoch?: number
  readonly port?: number | undefined
}): Promise<Anvil> => {
  const settings = { host: '127.0.0.1', port, 'chain-id': chainId, 'slots-in-an-epoch': slotsInAnEpoch }
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const node = spawn(anvilBinary(), options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(node, 'exit')
  // Anvil would continue to run after its parent crashed.
  const kill = () => node.kill('SIGKILL')
  process.once('exit', kill)

  const url = await new Promise<string>((resolve, reject) => {
    exited.then(() => reject(new Error('anvil ended before it listened')), reject)
    // All output is read, because a full pipe would stop the node.
    createInterface({ input: node.stdout }).on('line', (line) => {
      const listening = /^Listening on (\S+)/.exec(line)
      if (listening !== null) resolve(`http://${listening[1]}`)
    })
  })
  const stop = async () => {
    process.off('exit', kill)
    kill()
    await exited
  }
  try {
    await installMulticall3(url)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, stop }
}
